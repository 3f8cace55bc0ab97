"""Signs that must not stay in a text."""

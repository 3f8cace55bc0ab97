"""PDF by its text layer."""

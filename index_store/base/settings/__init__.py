"""The settings of this package, and what all settings share."""

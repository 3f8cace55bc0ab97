"""A passage, as several parts of the pages show it: its place, and a line that opens its text."""

"""A conversation or a run as one HTML file."""

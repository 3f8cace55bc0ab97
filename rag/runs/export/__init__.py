"""A conversation or a run as a file. Entry point: `export.gather`."""

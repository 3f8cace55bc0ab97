"""A conversation or a run as a file. Entry point: `exports.Exports`."""

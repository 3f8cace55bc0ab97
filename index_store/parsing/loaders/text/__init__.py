"""Plain text, Markdown and CSV, in whatever encoding they are."""

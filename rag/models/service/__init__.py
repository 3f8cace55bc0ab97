"""Chat models behind a key or a URL."""

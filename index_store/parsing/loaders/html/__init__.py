"""HTML, and EPUB, whose chapters are HTML."""

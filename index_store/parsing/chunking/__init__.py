"""A loaded document to sections, and these to chunks."""

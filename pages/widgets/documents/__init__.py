"""What the Documents page draws, and where documents are added."""

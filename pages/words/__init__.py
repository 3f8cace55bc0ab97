"""What the pages say, and to whom."""

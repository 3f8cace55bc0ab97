"""What the pages draw."""

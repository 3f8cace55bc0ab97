"""What the Search page draws."""

"""What the Runs page draws."""

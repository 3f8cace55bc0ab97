"""What rules can find in a text, without a model."""

"""What can be read off a text by rules, without a model."""

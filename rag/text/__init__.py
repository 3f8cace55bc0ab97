"""What rules can find in a text, without a model, and how texts for a model or a reader are worded."""

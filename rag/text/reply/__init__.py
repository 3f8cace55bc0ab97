"""What a model has written, without what does not belong to its answer, and the JSON in it."""

"""What rules find in the texts of the embedded model, and in the questions that it would misjudge."""

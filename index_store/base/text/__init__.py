"""What is known of signs and words alone: those to leave out, and how to compare them."""

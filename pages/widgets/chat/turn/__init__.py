"""One question and its answer in a conversation."""

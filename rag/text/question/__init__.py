"""What rules find in a question: small talk, and whether it may depend on the conversation."""

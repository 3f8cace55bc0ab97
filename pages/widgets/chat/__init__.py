"""What the chat draws: questions, answers, conversations."""

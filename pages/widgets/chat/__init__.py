"""The parts of the chat: questions, answers, conversations."""

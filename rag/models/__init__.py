"""The chat model in the field's words (chat_model.py), and the kinds of it that there are (registry.py)."""

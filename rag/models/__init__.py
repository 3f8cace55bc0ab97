"""The interface of chat models (chat_model.py) and the registry of their kinds (registry.py)."""

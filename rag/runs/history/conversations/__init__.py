"""Stored conversations: lists, trees of runs, comparisons. Entry point: `conversations.py`."""

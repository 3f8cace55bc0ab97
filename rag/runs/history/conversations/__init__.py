"""Conversations as they are kept: listed, as trees of runs, as comparisons. Entry point: `conversations.py`."""

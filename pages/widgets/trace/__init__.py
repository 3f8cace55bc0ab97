"""The trace panel: a row a step, its detail, and the graph with the way that was taken. Entry point: `panel.py`."""

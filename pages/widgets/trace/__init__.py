"""The trace panel: one row per step, its detail, and the graph with the path of the run. Entry point: `panel.py`."""

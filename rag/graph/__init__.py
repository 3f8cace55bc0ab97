"""The decorator for nodes (step.py), the context of a run (context.py) and the state that nodes share (state.py)."""

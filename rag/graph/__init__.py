"""What makes a node a step of the trace: step.py, what a run gives its graph (context.py), what nodes hand on (state.py)."""

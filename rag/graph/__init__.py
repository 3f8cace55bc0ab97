"""What makes a node a step of the trace (step.py), what a run gives it (context.py), what it hands on (state.py)."""

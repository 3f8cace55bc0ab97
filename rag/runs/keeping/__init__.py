"""How long runs are kept, and what goes with a person."""

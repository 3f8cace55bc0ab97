"""How long runs are kept, and what is deleted with a person."""

"""A page as a light tree: its nodes, how they are built, and what is left out."""

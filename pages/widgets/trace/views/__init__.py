"""A view for each type of detail. Each module registers those of its subject; `view.py` says what a view is."""

"""A view for each type of detail. Each module registers the views of its subject; `view.py` says what a view is."""

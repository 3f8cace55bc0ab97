"""The parts of forms and tables."""

"""The trace panel, and a view for each type of detail."""

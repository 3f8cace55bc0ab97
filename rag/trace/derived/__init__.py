"""What follows from the events of a run: its path, its answers, the cause of a bad one. None of it is stored."""

"""Change and run on: the form below a finished step, and the notes of a fork on its origin."""

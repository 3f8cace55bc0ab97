"""Change and run on: the form below a step that is over, and what a fork says of where it came from."""

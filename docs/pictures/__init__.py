"""The pictures of README and docs, taken from the running app."""

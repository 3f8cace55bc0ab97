"""A mark in the streams of chat models."""


class Restart:
    """Marks in a stream that the text before it is void: the connection broke, or it was reasoning."""

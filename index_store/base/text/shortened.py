"""Shortens a text that is too long for its place."""


def shortened(text: str, most: int) -> str:
    """`most`: characters, with the sign that something is left out."""
    return text if len(text) <= most else text[: most - 1] + "…"

"""Replies in pieces of several lengths, as models stream them."""

import pytest


def in_pieces(*sizes: int) -> pytest.MarkDecorator:
    """Of the shortest and the longest in `make test`, of all in `make soak`."""
    now = (min(sizes), max(sizes))
    return pytest.mark.parametrize(
        "size", [pytest.param(size, marks=() if size in now else pytest.mark.soak) for size in sizes]
    )

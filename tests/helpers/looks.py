"""Ways to look at a page: languages, widths and colours.

`make test` uses one per test, different ones, so that the whole suite covers all; `make soak` uses every combination.
"""

from collections.abc import Collection, Sequence
from itertools import product

import pytest

LANGUAGES, WIDTHS, SCHEMES = ("ja", "en"), (1280, 390), ("light", "dark")


def one_look(language: str, width: int, scheme: str) -> pytest.MarkDecorator:
    """This combination in `make test`, all others in `make soak`."""
    return _once("language, width, scheme", [(language, width, scheme)], LANGUAGES, WIDTHS, SCHEMES)


def one_width(language: str, width: int) -> pytest.MarkDecorator:
    """For tests that look at both colours themselves, or where colours do not matter."""
    return _once("language, width", [(language, width)], LANGUAGES, WIDTHS)


def one_language(language: str) -> pytest.MarkDecorator:
    """For tests where only the texts differ: any test that opens a page, unless the texts are what it is about."""
    return _once("language", [(language,)], LANGUAGES)


def _once(names: str, now: Collection[tuple[str | int, ...]], *ways: Sequence[str | int]) -> pytest.MarkDecorator:
    every = [pytest.param(*way, marks=() if way in now else pytest.mark.soak) for way in product(*ways)]
    return pytest.mark.parametrize(names, every)

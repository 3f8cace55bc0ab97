"""How a page is looked at: languages, widths and colours.

`make test` looks once, each test in a way of its own, so that all ways are there over the whole suite; `make soak` in
every combination.
"""

from itertools import product

import pytest

LANGUAGES, WIDTHS, SCHEMES = ("ja", "en"), (1280, 390), ("light", "dark")


def one_look(language: str, width: int, scheme: str) -> pytest.MarkDecorator:
    """This one; all others in `make soak`."""
    return _once("language, width, scheme", (language, width, scheme), LANGUAGES, WIDTHS, SCHEMES)


def one_width(language: str, width: int) -> pytest.MarkDecorator:
    """Where both colours are looked at, or none matters."""
    return _once("language, width", (language, width), LANGUAGES, WIDTHS)


def one_language(language: str) -> pytest.MarkDecorator:
    """Where nothing but words is another."""
    return _once("language", (language,), LANGUAGES)


def _once(names: str, now: tuple[str | int, ...], *ways: tuple[str | int, ...]) -> pytest.MarkDecorator:
    every = [pytest.param(*way, marks=() if way == now else pytest.mark.soak) for way in product(*ways)]
    return pytest.mark.parametrize(names, every)

"""Sticky sessions: whether a browser stays with one of several apps, read from its cookie."""

import pytest

from pages.server.sticky import is_sent_around


@pytest.mark.parametrize("cookie", ["7.5", "5.7.5", "7.9.5"])
def test_a_browser_that_returns_to_an_app_after_another_is_sent_around(cookie: str) -> None:
    assert is_sent_around(cookie, 5)


@pytest.mark.parametrize("cookie", [None, "", "5", "7", "9.7", "5.7", "5.5", "7.5.x", "7.5.9.5", "٧.5", "7.5\n"])
def test_a_browser_that_stays_or_changes_once_and_an_invalid_cookie_are_not_reported(cookie: str | None) -> None:
    assert not is_sent_around(cookie, 5)


def test_with_one_app_no_browser_is_sent_around() -> None:
    assert not is_sent_around("7.5.7", 0)

"""Sticky sessions: whether a browser stays with one of several apps, read from its cookie."""

import pytest

from pages.server.sticky import is_sent_around


@pytest.mark.parametrize("cookie", ["7.5", "5.7.5", "7.9.5"])
def test_an_app_that_a_browser_comes_back_to_after_another_takes_turns_with_it(cookie: str) -> None:
    assert is_sent_around(cookie, 5)


@pytest.mark.parametrize("cookie", [None, "", "5", "7", "9.7", "5.7", "5.5", "7.5.x", "7.5.9.5", "٧.5", "7.5\n"])
def test_who_stays_or_went_to_another_once_and_whatever_no_app_has_written_is_left_alone(cookie: str | None) -> None:
    assert not is_sent_around(cookie, 5)


def test_where_there_is_but_one_app_nobody_is_sent_around() -> None:
    assert not is_sent_around("7.5.7", 0)

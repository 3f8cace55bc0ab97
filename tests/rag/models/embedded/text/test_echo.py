import pytest

from rag.models.embedded.text.echo import EchoFilter

QUESTION = "How do I update the firmware?"


def read(*pieces: str) -> tuple[list[str], bool]:
    """What is shown of each piece and of the end, and whether the whole is an echo."""
    filtered = EchoFilter(QUESTION)
    shown = [filtered.feed(piece) for piece in pieces]
    return [*shown, filtered.end()], filtered.is_echo


@pytest.mark.parametrize("echo", [QUESTION, "how do I update the firmware", "**How do I update the firmware?**\n"])
def test_an_echo_is_never_shown(echo: str) -> None:
    assert read(*echo) == ([""] * (len(echo) + 1), True)


def test_an_answer_that_begins_like_the_question_is_shown_as_soon_as_it_goes_on_differently() -> None:
    assert read("How do I ", "update the ", "firm", "ware: hold", " the button.") == (
        ["", "", "", "How do I update the firmware: hold", " the button.", ""],
        False,
    )


def test_a_part_of_the_question_is_an_answer() -> None:
    assert read("The firm", "ware.") == (["The firm", "ware.", ""], False)
    assert read("How do I update") == (["", "How do I update"], False)


def test_nothing_is_no_echo() -> None:
    assert read() == ([""], False)
    assert read(" ", "\n") == (["", "", " \n"], False)

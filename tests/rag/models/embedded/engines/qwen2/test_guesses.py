from rag.models.embedded.engines.qwen2.guesses import MOST, Guesses


def test_what_followed_the_last_two_tokens_before_is_guessed_to_follow_again() -> None:
    guesses = Guesses([1, 2, 3, 4, 5, 9])
    assert guesses.next() == []
    guesses.add(2)
    guesses.add(3)
    assert guesses.next() == [4, 5, 9, 2, 3]


def test_the_latest_place_counts() -> None:
    assert Guesses([1, 2, 3, 1, 2, 4, 1, 2]).next() == [4, 1, 2]


def test_a_guess_is_short() -> None:
    assert Guesses([*range(100), 5, 6]).next() == list(range(7, 7 + MOST))


def test_of_less_than_two_tokens_nothing_is_guessed() -> None:
    assert Guesses([]).next() == []
    assert Guesses([1]).next() == []

import math

import pytest

from rag.models.embedded.log_odds import log_odds


def listed(**probabilities: float) -> list[dict]:
    return [{"token": token, "logprob": math.log(probability)} for token, probability in probabilities.items()]


def test_a_sure_yes_is_far_above_zero_and_a_sure_no_far_below() -> None:
    assert log_odds(listed(Yes=0.96, No=0.04)) == pytest.approx(math.log(24))
    assert log_odds(listed(Yes=0.04, No=0.96)) == pytest.approx(-math.log(24))


def test_all_spellings_of_a_word_count_together() -> None:
    assert log_odds(listed(Yes=0.2, yes=0.2, はい=0.2, No=0.1, NO=0.1)) == pytest.approx(math.log(3))
    assert log_odds([*listed(Yes=0.25, No=0.25), {"token": " yes", "logprob": math.log(0.25)}]) == pytest.approx(
        math.log(2)
    )


def test_words_that_only_begin_alike_do_not_count() -> None:
    assert log_odds(listed(Yes=0.4, No=0.2, Not=0.3, Yesterday=0.1)) == pytest.approx(math.log(2))


def test_a_side_that_is_not_listed_counts_as_the_least_probable_token() -> None:
    assert log_odds(listed(Yes=0.9, Maybe=0.09, Well=0.01)) == pytest.approx(math.log(90))
    assert log_odds(listed(No=0.9, Maybe=0.09, Well=0.01)) == pytest.approx(-math.log(90))


def test_no_word_on_either_side_is_undecided() -> None:
    assert log_odds(listed(The=0.9, A=0.1)) == 0
    assert log_odds([]) == 0

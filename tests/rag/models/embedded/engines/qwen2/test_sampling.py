import math

import numpy as np
import pytest

from rag.models.embedded.engines.qwen2.sampling import chosen

LOGITS = np.log(np.array([0.5, 0.02, 0.3, 0.18], np.float32)) + 7


def drawn(temperature: float, seed: int = 0) -> list[int]:
    random = np.random.default_rng(seed)
    return [chosen(LOGITS, temperature, 0, random).token for _ in range(300)]


def test_without_a_temperature_it_is_the_likeliest() -> None:
    assert set(drawn(0)) == {0}


def test_with_a_temperature_the_likely_ones_are_drawn_as_often_as_they_are_likely() -> None:
    counts = np.bincount(drawn(1), minlength=4) / 300
    assert counts == pytest.approx([0.51, 0, 0.31, 0.18], abs=0.1)
    assert counts[1] == 0


def test_a_low_temperature_keeps_to_the_likeliest() -> None:
    assert drawn(0.1).count(0) > 290


def test_the_likeliest_are_told_in_order_with_their_log_probabilities() -> None:
    told = chosen(LOGITS, 0, 3, np.random.default_rng())
    assert [token for token, _ in told.top] == [0, 2, 3]
    assert [logprob for _, logprob in told.top] == pytest.approx(
        [math.log(each) for each in (0.5, 0.3, 0.18)], abs=1e-5
    )
    assert told.logprob == pytest.approx(math.log(0.5), abs=1e-5)
    assert chosen(LOGITS, 0, 0, np.random.default_rng()).top == []

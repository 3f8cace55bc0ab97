from functools import partial

import pytest

from index_store.search import fusion
from index_store.search.fusion import FusionWeights

by_rank = partial(fusion.by_rank, weights=FusionWeights(vector=1, keyword=1))
by_score = partial(fusion.by_score, weights=FusionWeights(vector=0.3, keyword=0.7))


def ids(fused) -> list[str]:
    return [hit.id for hit in fused]


def test_what_both_sides_found_is_above_what_one_found():
    assert ids(by_rank(["a", "b"], ["c", "b"])) == ["b", "a", "c"]


def test_a_hit_knows_its_ranks_and_its_score():
    first, second, third = by_rank(["a", "b"], ["b", "c"])
    assert (first.id, first.vector_rank, first.keyword_rank) == ("b", 2, 1)
    assert first.score == pytest.approx(1 / 62 + 1 / 61, abs=1e-6)
    assert (second.id, second.vector_rank, second.keyword_rank) == ("a", 1, None)
    assert (third.id, third.vector_rank, third.keyword_rank) == ("c", None, 2)


def test_a_weight_moves_the_order():
    assert ids(by_rank(["a"], ["b"], weights=FusionWeights(vector=1, keyword=2))) == ["b", "a"]
    assert ids(by_rank(["a"], ["b"], weights=FusionWeights(vector=2, keyword=1))) == ["a", "b"]


def test_equal_hits_are_always_in_the_same_order():
    one, other = by_rank(["a", "z"], ["m", "b"]), by_rank(["m", "b"], ["a", "z"])
    assert ids(one) == ids(other) == ["a", "m", "b", "z"]


@pytest.mark.parametrize("fuse", [by_rank, lambda vector, keyword: by_score(vector, keyword, 0.7)])
def test_nothing_found_on_both_sides_is_nothing(fuse):
    assert fuse([], []) == []


def test_with_one_side_silent_the_other_keeps_its_order():
    assert ids(by_rank([], ["c", "a", "b"])) == ["c", "a", "b"]
    assert ids(by_rank(["c", "a", "b"], [])) == ["c", "a", "b"]
    assert ids(by_score([], [("c", 0.9), ("a", 0.5)], 0.0)) == ["c", "a"]
    assert ids(by_score([("c", 0.9), ("a", 0.85)], [], 0.7)) == ["c", "a"]


def test_by_score_a_clear_word_beats_a_slightly_nearer_vector():
    vector = [("near", 0.86), ("word", 0.85)]
    assert ids(by_score(vector, [("word", 0.9), ("near", 0.2)], 0.75)) == ["word", "near"]


def test_by_score_a_clearly_nearer_vector_beats_a_faint_word():
    vector = [("near", 0.90), ("far", 0.77)]
    assert ids(by_score(vector, [("far", 0.1)], 0.75)) == ["near", "far"]


def test_by_score_a_hit_has_the_weighted_mean_of_both_sides():
    first, second = by_score([("a", 0.9), ("b", 0.8)], [("b", 0.5)], 0.7, weights=FusionWeights(vector=1, keyword=3))
    assert (first.id, first.score, first.vector_rank, first.keyword_rank) == ("b", 0.5, 2, 1)
    assert (second.id, second.score, second.keyword_rank) == ("a", 0.25, None)


def test_by_score_what_the_vectors_missed_counts_as_their_last():
    fused = {
        hit.id: hit.score
        for hit in by_score([("a", 0.9), ("b", 0.8)], [("c", 0.5)], 0.7, weights=FusionWeights(vector=1, keyword=1))
    }
    assert fused["c"] == pytest.approx((0.5 + 0.5) / 2)


@pytest.mark.parametrize("floor", [0.9, 0.95, 1.0])
def test_by_score_a_floor_above_all_cosines_breaks_nothing(floor):
    fused = by_score([("a", 0.9), ("b", 0.8)], [("b", 0.5)], floor)
    assert {hit.id for hit in fused} == {"a", "b"}
    assert all(0 <= hit.score <= 1 for hit in fused)


NEAR_AND_FOREIGN = [("foreign", 0.90), ("near", 0.88), ("word", 0.82)]


def test_by_score_the_nearest_is_not_behind_a_word_that_it_can_only_hold_in_translation():
    keyword = [("word", 0.4), ("near", 0.2)]
    assert ids(by_score(NEAR_AND_FOREIGN, keyword, 0.75))[0] == "word"
    fused = by_score(NEAR_AND_FOREIGN, keyword, 0.75, in_other_language={"foreign"}, translated=1.0)
    assert ids(fused)[0] == "foreign"
    assert fused[0].keyword_rank is None


def test_by_score_a_name_that_is_not_translated_decides_in_the_other_language_too():
    vector = [("foreign", 0.90), ("foreign with the code", 0.86)]
    others = {"foreign", "foreign with the code"}
    fused = by_score(vector, [("foreign with the code", 0.7)], 0.75, in_other_language=others, translated=0.5)
    assert ids(fused) == ["foreign with the code", "foreign"]


def test_by_score_what_is_in_the_other_language_but_was_not_found_by_vector_stays_as_it_is():
    keyword = [("a", 0.5), ("b", 0.4)]
    fused = by_score([("a", 0.9)], keyword, 0.7, in_other_language={"b", "c"}, translated=1.0)
    assert fused == by_score([("a", 0.9)], keyword, 0.7)


def test_by_score_no_score_is_above_one():
    fused = by_score([("a", 0.9)], [("a", 0.8)], 0.7, in_other_language={"a"}, translated=1.0)
    assert [hit.score for hit in fused] == [1.0]

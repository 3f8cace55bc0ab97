"""Fuses the hits of vector and keyword search into one list."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pydantic import BaseModel

K = 60
"""Cormack, Clarke and Büttcher: Reciprocal Rank Fusion outperforms Condorcet (SIGIR 2009)"""


class FusionWeights(BaseModel, frozen=True):
    """The weight of each side; only their ratio matters."""

    vector: float
    keyword: float


IN_TRANSLATION = 0.9
"""what holding a word in translation is worth at most: of two equally good passages, the one in the question's language
is first
"""


class Fused(NamedTuple):
    id: str
    score: float
    vector_rank: int | None
    """from 1; None if that side did not find it"""
    keyword_rank: int | None


def by_rank(vector: Sequence[str], keyword: Sequence[str], weights: FusionWeights) -> list[Fused]:
    """Reciprocal rank fusion of two lists of ids, each best first: the sum of weight / (K + rank)."""

    def share(weight: float, rank: int | None) -> float:
        return weight / (K + rank) if rank else 0.0

    vector_ranks, keyword_ranks = _ranks(vector), _ranks(keyword)
    scores = {
        id_: share(weights.vector, vector_ranks.get(id_)) + share(weights.keyword, keyword_ranks.get(id_))
        for id_ in vector_ranks | keyword_ranks
    }
    return _fused(scores, vector_ranks, keyword_ranks)


def by_score(
    vector: Sequence[tuple[str, float]],
    keyword: Sequence[tuple[str, float]],
    floor: float,
    weights: FusionWeights,
    *,
    in_other_language: Collection[str] = (),
    translated: float = 0.0,
) -> list[Fused]:
    """The weighted mean of two scores from 0 to 1 (Bruch, Gai and Ingber: An Analysis of Fusion Functions, TOIS 2023).

    `vector`: ids with cosines, best first. The best cosine scores 1; `floor`, the mean cosine of the question to any
    passage, scores 0. An id that this side did not find scores as its last one. `keyword`: ids with the share of the
    question that they hold, as `BM25Index.search` returns them.

    The ids `in_other_language` are taken to hold the `translated` share of the question's words, 0 to 1, in
    translation: as many as the best of `keyword`, in proportion to how near they are.
    """
    best = vector[0][1] if vector else 0.0
    nearness = {id_: max(0.0, cosine - floor) / (best - floor) if best > floor else 1.0 for id_, cosine in vector}
    least = min(nearness.values(), default=0.0)
    share = dict(keyword)
    most = max(share.values(), default=0.0)
    for id_ in nearness.keys() & set(in_other_language):
        share[id_] = min(1.0, share.get(id_, 0.0) + IN_TRANSLATION * translated * most * nearness[id_])
    total = weights.vector + weights.keyword
    scores = {
        id_: (weights.vector * nearness.get(id_, least) + weights.keyword * share.get(id_, 0.0)) / total
        for id_ in nearness | share
    }
    return _fused(scores, _ranks([id_ for id_, _ in vector]), _ranks([id_ for id_, _ in keyword]))


def _ranks(ids: Sequence[str]) -> dict[str, int]:
    return {id_: rank for rank, id_ in enumerate(ids, 1)}


def _fused(scores: dict[str, float], vector_ranks: dict[str, int], keyword_ranks: dict[str, int]) -> list[Fused]:
    """Best first. Ties are ordered by the better rank, then by id, so that the order is always the same."""
    hits = [
        Fused(id=id_, score=round(score, 6), vector_rank=vector_ranks.get(id_), keyword_rank=keyword_ranks.get(id_))
        for id_, score in scores.items()
    ]
    return sorted(hits, key=lambda hit: (-hit.score, *_by_rank(hit), hit.id))


def _by_rank(hit: Fused) -> tuple[int, int]:
    ranks = sorted(rank for rank in (hit.vector_rank, hit.keyword_rank) if rank)
    return ranks[0], len(ranks)

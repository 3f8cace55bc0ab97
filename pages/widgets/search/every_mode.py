"""One question searched in every mode, and the passages that the lists share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase

from index_store.base.errors import PlainError
from index_store.search.hits import Hit
from index_store.search.searcher import MODES
from index_store.store.user_store import UserStore

GOLDEN_ANGLE = 137.508
"""degrees between two hues: neighbours differ, however many there are"""


@dataclass(frozen=True)
class ModeResult:
    mode: str
    hits: Sequence[Hit] = ()
    error: PlainError | None = None


@dataclass
class PassageRanks:
    """What the modes found about one passage, including its near duplicates."""

    ranks: dict[str, int] = field(default_factory=dict)
    """by mode; known ranks below the shown hits are included"""
    lists: list[str] = field(default_factory=list)
    """modes whose lists show it"""
    letter: str = ""
    """set if it is in more than one list"""
    hue: int = 0
    """degrees; belongs to the letter"""


def search_every_mode(
    store: UserStore,
    index: str,
    question: str,
    unit: str,
    k: int,
    words: Sequence[str] | None,
    document_ids: Sequence[str] | None,
) -> list[ModeResult]:
    """The hits of each of MODES, by `UserStore.search`. If one mode fails, its result is an error; the others go on."""
    results: list[ModeResult] = []
    failed: PlainError | None = None
    for mode in MODES:
        if mode == "hybrid" and failed:  # it would fail in the same way, after another wait
            results.append(ModeResult(mode, error=failed))
            continue
        try:
            hits = store.search(index, question, mode=mode, unit=unit, k=k, words=words, document_ids=document_ids)
        except PlainError as error:
            failed = failed or error
            results.append(ModeResult(mode, error=error))
        else:
            results.append(ModeResult(mode, hits))
    return results


def passages(results: Sequence[ModeResult], unit: str) -> dict[tuple[str, int], PassageRanks]:
    """The passages, by mode and rank in that mode."""
    found: dict[tuple[str, int], PassageRanks] = {}
    by_id: dict[str, PassageRanks] = {}
    for result in results:
        for hit in result.hits:
            ids = [each.section_id if unit == "section" else each.chunk_id for each in (hit, *hit.copies)]
            passage = next((by_id[id_] for id_ in ids if id_ in by_id), None) or PassageRanks()
            passage.ranks.setdefault(result.mode, hit.rank)
            if result.mode not in passage.lists:
                passage.lists.append(result.mode)
            for id_ in ids:
                by_id.setdefault(id_, passage)
            found[result.mode, hit.rank] = passage
    if unit == "chunk":  # for sections, only the ranks of their chunks are known
        _add_ranks_of_sides(results, found)
    _letter(found)
    return found


def _add_ranks_of_sides(results: Sequence[ModeResult], found: dict[tuple[str, int], PassageRanks]) -> None:
    for result in results:
        for hit in result.hits:
            ranks = found[result.mode, hit.rank].ranks
            for side, rank in (("vector", hit.vector_rank), ("keyword", hit.keyword_rank)):
                if rank is not None:
                    ranks.setdefault(side, rank)


def _letter(found: dict[tuple[str, int], PassageRanks]) -> None:
    """Letters in the order of the fused list, then of the others."""
    in_order = sorted(found, key=lambda place: (-MODES.index(place[0]), place[1]))
    shared = {id(found[place]): found[place] for place in in_order if len(found[place].lists) > 1}
    for number, passage in enumerate(shared.values()):
        turn, at = divmod(number, len(ascii_uppercase))
        passage.letter = ascii_uppercase[at] + (str(turn + 1) if turn else "")
        passage.hue = round(number * GOLDEN_ANGLE) % 360

"""The queue for the model when several apps share a database: which waiting runs get their turn."""

from math import inf

from rag.runs.history.active_runs import QueuedRun
from rag.runs.replicas.shared_admission import admitted


def queued(*waiting: tuple[str, str], at_work: str = "", at_once: int | None = None) -> list[QueuedRun]:
    """`waiting`: id and party of each run. `at_work`: the parties of runs that have their turn, one letter each."""
    working = [QueuedRun(f"{party}-{turn}", 1, party, None, turn) for turn, party in enumerate(at_work, 1)]
    return [*working, *(QueuedRun(run_id, 2, party, at_once, None) for run_id, party in waiting)]


def ids(found: tuple[list[QueuedRun], list[QueuedRun]]) -> tuple[list[str], list[str]]:
    given, order = found
    return [each.run_id for each in given], [each.run_id for each in order]


def test_each_party_has_no_more_than_it_may_and_holds_up_nobody_else() -> None:
    waiting = queued(("a1", "a"), ("a2", "a"), ("b1", "b"), at_work="a")
    assert ids(admitted(waiting, inf, 2)) == (["b1", "a1"], ["a2"])


def test_what_a_run_says_of_its_party_counts_and_not_what_all_may() -> None:
    assert ids(admitted(queued(("a1", "a"), ("a2", "a"), at_once=1), inf, 5)) == (["a1"], ["a2"])


def test_all_together_have_no_more_than_there_may_be_and_take_turns() -> None:
    """Parties without a run at work come first, then the party whose turn was longest ago."""
    waiting = queued(("a1", "a"), ("b1", "b"), ("c1", "c"), ("a2", "a"), at_work="ab")
    assert ids(admitted(waiting, 3, 5)) == (["c1"], ["a1", "b1", "a2"])
    assert ids(admitted(waiting, 2, 5)) == ([], ["c1", "a1", "b1", "a2"])

"""The differences between runs, found from their events."""

from collections.abc import Sequence

from rag.trace.derived.comparison import compare_passages, has_searched
from rag.trace.details import Candidate, CandidatesDetail, GradesDetail, RetrievalDetail, WebSearchDetail
from rag.trace.events import Event, RunFinished, StepFinished, Totals
from rag.trace.grades import Grade, Grounding, PassageGrade, Usefulness
from rag.trace.passages import Citation, Passage
from tests.rag.trace.steps import finished

YES, NO = Grade(verdict="yes", score=0.9), Grade(verdict="no", score=0.2)
UNKNOWN = Grade.unknown()


def passage(number: int, section: str, rank: int | None = None, start: int = 0, end: int = 10, **values) -> Passage:
    return Passage(
        number=number, rank=rank or number, score=0.5, document_id="d", section_id=section, source="a.md", title="a",
        headings=(), page=None, text="x" * (end - start), start=start, end=end, **values,
    )  # fmt: skip


def search(*passages: Passage) -> StepFinished:
    return finished("retrieve", detail=RetrievalDetail(query="?", mode="vector", unit="chunk", passages=passages))


def grades(*graded: tuple[Passage, Grade]) -> StepFinished:
    of_passages = tuple(PassageGrade(passage=each, grade=grade) for each, grade in graded)
    return finished("grade_documents", detail=GradesDetail(question="?", grades=of_passages))


def end(*cited: Passage) -> RunFinished:
    citations = tuple(Citation.model_validate(each.model_dump()) for each in cited)
    return RunFinished(status="finished", answer="", outcome="answered", citations=citations, totals=Totals())


def told(*runs: Sequence[Event]) -> list[tuple[str, list[int | None]]]:
    """For each passage, its section and its rank in each run."""
    return [
        (each.passage.section_id, [found.passage.rank if found else None for found in each.found])
        for each in compare_passages(runs)
    ]


def test_a_passage_is_the_same_in_both_runs_whatever_its_number_and_rank_there():
    one = [search(passage(1, "A"), passage(2, "B"))]
    other = [search(passage(1, "C"), passage(2, "A"))]
    assert told(one, other) == [("C", [None, 1]), ("B", [2, None]), ("A", [1, 2])]


def test_what_all_found_alike_comes_last_and_what_is_disputed_first():
    a, b, c = passage(1, "A"), passage(2, "B"), passage(3, "C")
    one = [search(a, b, c), grades((a, YES), (b, YES), (c, NO))]
    other = [search(a, b, c), grades((a, YES), (b, UNKNOWN), (c, YES))]
    compared = compare_passages([one, other])
    assert [(each.passage.section_id, each.is_disputed) for each in compared] == [
        ("C", True), ("A", False), ("B", False),
    ]  # fmt: skip
    assert [found.grade for found in compared[0].found] == [NO, YES]


def test_two_stretches_of_a_section_are_two_passages():
    one = [search(passage(1, "A", end=10))]
    other = [search(passage(1, "A", start=8, end=20))]
    assert told(one, other) == [("A", [1, None]), ("A", [None, 1])]


def test_a_chunk_is_found_where_the_section_around_it_was_but_its_grade_is_of_less_text():
    first, second = passage(1, "A", rank=2, end=10), passage(2, "A", rank=3, start=10, end=20)
    whole = passage(1, "A", rank=1, end=30)
    one = [search(first, second), grades((first, NO), (second, NO)), end(second)]
    other = [search(whole), grades((whole, YES))]
    [compared] = compare_passages([one, other])
    assert [found.passage.rank for found in compared.found] == [2, 1]
    assert [found.is_cited for found in compared.found] == [True, False]
    assert compared.is_everywhere
    assert not compared.is_disputed


def test_of_several_searches_the_one_counts_in_which_it_stood_highest():
    a = passage(1, "A", rank=4)
    again = a.model_copy(update={"rank": 1})
    [compared] = compare_passages([[search(a), search(again)], [search(a)]])
    assert [(found.search, found.passage.rank) for found in compared.found] == [(2, 1), (1, 4)]


def test_a_web_search_that_is_not_set_up_is_no_search():
    a, off = passage(1, "A"), WebSearchDetail(query="?", provider=None, passages=(), why="off")
    [compared] = compare_passages([[finished("web_search", detail=off), search(a)]])
    assert [found.search for found in compared.found] == [1]
    assert not has_searched([finished("web_search", detail=off)])
    failed = off.model_copy(update={"provider": "tavily", "why": "failed"})
    assert has_searched([finished("web_search", detail=failed)])


def test_pages_of_the_web_are_told_by_their_address():
    one, other = (
        passage(1, "", origin="web").model_copy(update={"source": address})
        for address in ("https://a.example", "https://b.example")
    )
    found = finished(
        "web_search",
        detail=WebSearchDetail(query="?", provider="tavily", passages=(one, other.model_copy(update={"number": 2}))),
    )
    compared = compare_passages([[found], [search()]])
    assert [each.passage.source for each in compared] == ["https://a.example", "https://b.example"]
    assert [each.found[1] for each in compared] == [None, None]


def test_the_nearest_passages_of_no_answer_are_not_cited():
    a = passage(1, "A")
    no_answer = end(a).model_copy(update={"outcome": "not_in_documents"})
    [compared] = compare_passages([[search(a), end(a)], [search(a), no_answer]])
    assert [each.is_cited for each in compared.found] == [True, False]


def test_candidates_are_graded_too():
    a = passage(1, "A")
    candidate = Candidate(
        passage=a, text="x", relevance=NO, grounding=Grounding.unknown(), usefulness=Usefulness.unknown(), score=0
    )
    one = [search(a), finished("write_candidates", detail=CandidatesDetail(candidates=(candidate,)))]
    other = [search(a), grades((a, YES))]
    [compared] = compare_passages([one, other])
    assert compared.is_disputed


def test_runs_that_found_nothing_have_nothing_to_compare():
    assert compare_passages([[], [search()]]) == []

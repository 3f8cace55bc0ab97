"""Applies edits to a step: other inputs, or another outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from index_store.parsing.chunking.blocks import header_at
from index_store.store.user_store import UserStore
from rag.errors import BadChange, NothingChanged
from rag.graph.context import Override, StepOutcome
from rag.graph.speculative_answer import SpeculativeAnswer
from rag.graph.state import State
from rag.runs.fork.checkpoints import Task
from rag.runs.fork.edits import (
    EDITS,
    ChangeRetrieval,
    Edit,
    EditPrompt,
    EditQuery,
    LeaveOut,
    TakeChunk,
    TakeIn,
    TurnOver,
)
from rag.runs.run.options import check_retrieval
from rag.text.places import place
from rag.trace.calls import Message
from rag.trace.details import (
    GradesDetail,
    GroundingDetail,
    LeftOut,
    RetrievalDetail,
    RetrievalNeedDetail,
    RewriteDetail,
    UsefulnessDetail,
    WebSearchDetail,
)
from rag.trace.events import Change, StepFinished
from rag.trace.grades import Grade, Grounding, Usefulness, Verdict
from rag.trace.passages import Passage, Retrieval

D = TypeVar("D")


@dataclass
class Editing:
    """One step while edits are applied to it."""

    state: State
    """before the step; with what an earlier fork gave to it, once this is made"""
    task: Task
    finished: StepFinished
    index: str
    searched_by: Retrieval
    store: UserStore
    given: State = field(default_factory=State)
    prompt: tuple[Message, ...] = ()
    outcome: State | None = None
    retrieval: Retrieval | None = None
    changes: list[Change] = field(default_factory=list)
    _given_before: State = field(init=False)

    def __post_init__(self) -> None:
        self._given_before = _given_before(self.task)
        self.state = {**self.state, **self._given_before}

    def apply(self, edit: Edit) -> None:
        if type(edit) not in EDITS.get(self.task.step, ()):
            raise BadChange()
        match edit:
            case LeaveOut(passage=number):
                self._leave_out(number)
            case TakeIn(passage=number):
                self._take_in(number)
            case TakeChunk(document_id=document_id, chunk_id=chunk_id):
                self._take_chunk(document_id, chunk_id)
            case TurnOver(passage=None):
                self._turn_verdict()
            case TurnOver(passage=int(number)):
                self._turn_passage(number)
            case EditQuery(query=query):
                self._search_for(query.strip())
            case EditPrompt(messages=messages):
                self.prompt = messages
                self._note("prompt", "", "\n\n".join(each.text for each in messages))
            case ChangeRetrieval(retrieval=retrieval):
                self._search_by(retrieval)

    def override(self) -> Override:
        """Raises NothingChanged; BadChange if the edits change both the search and its old results."""
        if not self.changes:
            raise NothingChanged()
        if self.outcome is None:
            if self.finished.prompt_by_hand and not self.prompt:
                self.changes.append(Change(what="prompt_anew", before="", after=""))
            return Override(given={**self._given_before, **self.given}, prompt=self.prompt)
        if self.given or self.prompt or self.retrieval:
            raise BadChange()
        if self.task.step == "retrieve":
            self.outcome["speculative"] = SpeculativeAnswer(self.outcome["passages"])
        return Override(outcome=StepOutcome(self.finished.model_copy(update={"reused": True}), self.outcome))

    def _note(self, what: str, before: object, after: object, passage: int | None = None) -> None:
        if before != after:
            self.changes.append(Change(what=what, before=str(before), after=str(after), passage=passage))

    def _show(self, detail: Any, verdict: Verdict | None = None) -> None:
        """Changes what the step's row shows."""
        changed = {"detail": detail} | ({"verdict": verdict} if verdict else {})
        self.finished = self.finished.model_copy(update=changed)

    def _detail(self, kind: type[D]) -> D:
        if not isinstance(self.finished.detail, kind):
            raise BadChange()
        return self.finished.detail

    def _came_to(self) -> State:
        """The step's outcome, to be edited. Raises BadChange if it has none."""
        if self.outcome is None:
            if self.task.changes is None:
                raise BadChange()
            self.outcome = State(**self.task.changes)
        return self.outcome

    # Passages

    @property
    def _passages(self) -> list[Passage]:
        """The passages that the step found or is given."""
        if self.task.step == "retrieve":
            return self._came_to()["passages"]
        return self.given.get("relevant", self.state["relevant"])

    def _set_passages(self, passages: list[Passage]) -> None:
        if self.task.step != "retrieve":
            self.given["relevant"] = passages
            return
        outcome, detail = self._came_to(), self._detail(RetrievalDetail)
        outcome["passages"] = outcome["relevant"] = passages
        outcome["seen"] = outcome["seen"] | {(each.section_id, each.start, each.end): each for each in passages}
        kept = {each.number for each in passages}
        found: tuple[LeftOut | Passage, ...] = (*detail.by_hand, *detail.passages)
        by_hand = (
            LeftOut(document_id=each.document_id, number=each.number) for each in found if each.number not in kept
        )
        self._show(detail.model_copy(update={"passages": tuple(passages), "by_hand": tuple(by_hand)}))

    def _leave_out(self, number: int) -> None:
        passage = _numbered(self._passages, number)
        self._set_passages([each for each in self._passages if each is not passage])
        self._note("left_out", place(passage), "", number)

    def _take_in(self, number: int) -> None:
        if any(each.number == number for each in self._passages):
            raise BadChange()
        seen = self._came_to()["seen"] if self.task.step == "retrieve" else self.state["seen"]
        self._add(_numbered(list(seen.values()), number))

    def _take_chunk(self, document_id: str, chunk_id: str) -> None:
        retrieval, seen = self._came_to(), self._came_to()["seen"]
        document = self.store.document(document_id)
        chunk = next((each for each in self.store.chunks(document_id) if each.id == chunk_id), None)
        if chunk is None or document.index != self.index:
            raise BadChange()
        section = self.store.section(chunk.section_id)
        is_whole = self._detail(RetrievalDetail).unit == "section"
        start, end = (0, len(section.text)) if is_whole else (chunk.start, chunk.end)
        known = seen.get((section.id, start, end))
        if known and any(each.number == known.number for each in retrieval["passages"]):
            raise BadChange()
        self._add(
            Passage(
                number=known.number if known else len(seen) + 1,
                document_id=document_id,
                section_id=section.id,
                source=section.source,
                title=section.title,
                headings=(section if is_whole else chunk).headings,
                page=chunk.page,
                text=section.text[start:end],
                start=start,
                end=end,
                best_start=chunk.start,
                best_end=chunk.end,
                header=header_at(section.text, start),
                rank=len(retrieval["passages"]) + 1,
                score=0,
            )
        )

    def _add(self, passage: Passage) -> None:
        self._set_passages([*self._passages, passage])
        self._note("taken_in", "", place(passage), passage.number)

    # Grades

    def _turn_passage(self, number: int) -> None:
        detail = self.finished.detail
        if not isinstance(detail, GradesDetail) or number not in {each.passage.number for each in detail.grades}:
            raise BadChange()
        outcome = self._came_to()
        before = next(each.grade for each in detail.grades if each.passage.number == number)
        turned = Grade(verdict=_turned(before, is_lenient=True), score=None, by_hand=True)
        graded = tuple(
            each.model_copy(update={"grade": turned, "error": None}) if each.passage.number == number else each
            for each in detail.grades
        )
        outcome["grades"] = outcome["grades"] | {number: turned}
        outcome["relevant"] = [each.passage for each in graded if each.grade.verdict != "no"]
        self._show(detail.model_copy(update={"grades": graded}), "yes" if outcome["relevant"] else "no")
        self._note("grade", before.verdict, turned.verdict, number)

    def _turn_verdict(self) -> None:
        outcome = self._came_to()
        verdict: Verdict
        match self.finished.detail:
            case GroundingDetail(grade=before) as detail:
                verdict = _turned(before)
                grounding = Grounding(
                    verdict=verdict, score=None, level="fully" if verdict == "yes" else "no", by_hand=True
                )
                outcome["grounding"] = grounding
                self._show(detail.model_copy(update={"grade": grounding}), verdict)
                self._note("grounding", before.verdict, verdict)
            case UsefulnessDetail(grade=before) as detail:
                verdict = _turned(before)
                usefulness = Usefulness(verdict=verdict, score=None, rating=5 if verdict == "yes" else 1, by_hand=True)
                outcome["usefulness"] = usefulness
                self._show(detail.model_copy(update={"grade": usefulness}), verdict)
                self._note("usefulness", before.verdict, verdict)
            case RetrievalNeedDetail(needed=needed) as detail:
                verdict = "no" if needed else "yes"
                grade = Grade(verdict=verdict, score=None, by_hand=True)
                outcome["needs_documents"] = not needed
                self._show(detail.model_copy(update={"grade": grade, "needed": not needed}), verdict)
                self._note("need", "yes" if needed else "no", verdict)
            case _:
                raise BadChange()

    # Searches

    def _search_for(self, query: str) -> None:
        if not query:
            raise BadChange()
        state = self.state
        match self.task.step:
            case "retrieve":
                before = state.get("query") or state["question"]
                self.given |= {"query": query, "words": None}
            case "web_search":
                before = self._detail(WebSearchDetail).query
                self.given["web_query"] = query
            case _:
                detail = self._detail(RewriteDetail)
                before = detail.after
                self._reword(query, detail)
        if query == before:
            raise NothingChanged()
        self._note("query", before, query)

    def _reword(self, query: str, detail: RewriteDetail) -> None:
        outcome = self._came_to()
        if self.task.step == "rewrite_for_web":
            outcome["web_query"] = query
        else:
            reworded = query != detail.before
            outcome |= {"query": query, "words": None, "reworded": reworded}
        self._show(detail.model_copy(update={"after": query, "refused": None}), "yes")
        self.finished = self.finished.model_copy(update={"fallback": None})

    def _search_by(self, retrieval: Retrieval) -> None:
        check_retrieval(retrieval)
        before = self.searched_by
        for name in Retrieval.model_fields:
            self._note(name, getattr(before, name), getattr(retrieval, name))
        self.retrieval = retrieval


_GIVEN: Mapping[str, tuple[str, ...]] = {"retrieve": ("query", "words"), "generate": ("relevant",)}
"""the values that edits give to a step, which then returns them too (`step` in rag/graph/step.py)"""


def _given_before(task: Task) -> State:
    """What an earlier fork gave to the step; empty if there was none, except for the query that it searched for."""
    given = _GIVEN.get(task.step, ())
    return cast(State, {key: value for key, value in (task.changes or State()).items() if key in given})


def _turned(grade: Grade, *, is_lenient: bool = False) -> Verdict:
    """`is_lenient`: unknown counts as yes, as it does for passages."""
    counts_as_yes = grade.verdict == "yes" or (is_lenient and grade.verdict == "unknown")
    return "no" if counts_as_yes else "yes"


def _numbered(passages: Sequence[Passage], number: int) -> Passage:
    for each in passages:
        if each.number == number:
            return each
    raise BadChange()

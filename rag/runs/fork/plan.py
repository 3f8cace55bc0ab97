"""Change and run on: what a person changes of a step that is over, and what the run that goes on from there is given.

A fork is a run of its own, from the checkpoint before the changed step. What stands before it in the trace is its
origin's; steps that ran beside it keep what they came to; the step itself is done anew with something else given to it,
or is over with something else as its outcome, as the change has it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from index_store.base.errors import UnknownDocument, UnknownSection
from index_store.search.hits import Place
from index_store.store import IndexStore
from rag.errors import BadChange, DocumentsGone, NoCheckpoint, NothingChanged
from rag.graph.context import Outcome, Override
from rag.graph.speculative_answer import SpeculativeAnswer
from rag.graph.state import State
from rag.runs.fork.checkpoints import Moment, Task
from rag.runs.options import check_retrieval
from rag.runs.summary import reused_seconds
from rag.trace.calls import Message
from rag.trace.details import (
    DeclineDetail,
    DraftDetail,
    GenerationDetail,
    GradesDetail,
    GroundingDetail,
    RetrievalDetail,
    RetrievalNeedDetail,
    RewriteDetail,
    UsefulnessDetail,
    WebSearchDetail,
)
from rag.trace.events import Change, Event, RunFinished, RunStarted, StepFinished, StepStarted, Token
from rag.trace.grades import Grade, Grounding, Usefulness, Verdict
from rag.trace.passages import Frozen, Passage, Retrieval

D = TypeVar("D")


class LeaveOut(Frozen):
    """A passage, by its number."""

    kind: Literal["leave_out"] = "leave_out"
    passage: int


class TakeIn(Frozen):
    """A passage that the run has found, by its number."""

    kind: Literal["take_in"] = "take_in"
    passage: int


class TakeChunk(Frozen):
    """Any chunk of the index, or its section where the run reads sections."""

    kind: Literal["take_chunk"] = "take_chunk"
    document_id: str
    chunk_id: str


class TurnOver(Frozen):
    """A grade: yes becomes no, and all else yes."""

    kind: Literal["turn_over"] = "turn_over"
    passage: int | None = None
    """number of the one that was graded; None where a step has one verdict"""


class EditQuery(Frozen):
    kind: Literal["query"] = "query"
    query: str


class EditPrompt(Frozen):
    """What the step's first call is to ask, word for word; its others are asked as ever."""

    kind: Literal["prompt"] = "prompt"
    messages: tuple[Message, ...]


class ChangeRetrieval(Frozen):
    """From this step on."""

    kind: Literal["retrieval"] = "retrieval"
    retrieval: Retrieval


Edit = Annotated[
    LeaveOut | TakeIn | TakeChunk | TurnOver | EditQuery | EditPrompt | ChangeRetrieval, Field(discriminator="kind")
]

EDITS: Mapping[str, tuple[type[Frozen], ...]] = {
    "retrieve": (EditQuery, ChangeRetrieval, LeaveOut, TakeIn, TakeChunk),
    "grade_documents": (TurnOver,),
    "generate": (LeaveOut, TakeIn, EditPrompt),
    "check_grounding": (TurnOver,),
    "check_usefulness": (TurnOver,),
    "rewrite_question": (EditQuery,),
    "rewrite_for_web": (EditQuery,),
    "web_search": (EditQuery,),
    "decide_retrieval": (TurnOver,),
    "answer_from_memory": (EditPrompt,),
    "small_talk": (EditPrompt,),
}
"""what can be changed, by the name of the step"""


@dataclass(frozen=True)
class Fork:
    """All that a run needs to go on from another one."""

    upto: str
    """the checkpoint from which it goes on"""
    events: tuple[Event, ...]
    """those that it has from its origin"""
    retrieval: Retrieval | None
    """another than the origin's"""
    overrides: Mapping[tuple[str, int], Override]
    changes: tuple[Change, ...]

    @property
    def attempts(self) -> Counter[str]:
        """How often each step has begun before."""
        return Counter(each.step for each in self.events if isinstance(each, StepStarted))

    @property
    def reused(self) -> tuple[tuple[str, int], ...]:
        """Steps that are not done again, by name and attempt."""
        beside = (key for key, each in self.overrides.items() if each.outcome)
        return (*((each.step, each.attempt) for each in self.events if isinstance(each, StepFinished)), *beside)

    @property
    def reused_seconds(self) -> float:
        """Where on the line of its trace what is new begins."""
        beside = (each.outcome.finished for each in self.overrides.values() if each.outcome)
        return reused_seconds((*self.events, *beside))


def plan(
    moments: Sequence[Moment],
    events: Sequence[Event],
    step: str,
    attempt: int,
    edits: Sequence[Edit],
    index: str,
    retrieval: Retrieval,
    store: IndexStore,
) -> Fork:
    """`moments`, `events`, `index`, `retrieval`: the origin's.

    Raises NoCheckpoint, BadChange, NothingChanged, DocumentsGone, UnknownMode, UnknownUnit, BadHitCount.
    """
    moment = next((each for each in moments if any(_is(task, step, attempt) for task in each.tasks)), None)
    if moment is None:
        raise NoCheckpoint()
    finished = {(each.step, each.attempt): each for each in events if isinstance(each, StepFinished)}
    task = next(task for task in moment.tasks if _is(task, step, attempt))
    if (step, attempt) not in finished:
        raise NoCheckpoint()
    editing = _Editing(moment.state, task, finished[step, attempt], index, retrieval, store)
    for edit in edits:
        editing.apply(edit)
    overrides = {(step, attempt): editing.override()}
    for other in moment.tasks:
        if other is not task and (outcome := _outcome_beside(other, finished)):
            overrides[other.step, other.attempt] = outcome
    return Fork(
        upto=moment.checkpoint_id,
        events=tuple(_before(moment, events)),
        retrieval=editing.retrieval,
        overrides=overrides,
        changes=(*editing.changes, *_newer_versions(editing.outcome or moment.state, store)),
    )


class ChangedDocuments(NamedTuple):
    """By their titles."""

    gone: tuple[str, ...]
    newer: tuple[str, ...]
    """those that have another version now"""


def changed_documents(events: Sequence[Event], store: IndexStore) -> ChangedDocuments:
    """Of those that a run has read."""
    gone, newer = dict[str, None](), dict[str, None]()
    for each in events:
        match each:
            case StepFinished(detail=RetrievalDetail(passages=found)):
                for passage in found:
                    if passage.removed or not _is_there(store, passage):
                        gone[passage.title] = None
                    elif not _is_current(store, passage):
                        newer[passage.title] = None
    return ChangedDocuments(tuple(gone), tuple(newer))


def _newer_versions(state: State, store: IndexStore) -> Iterator[Change]:
    """Raises DocumentsGone."""
    found = [each for each in state.get("seen", {}).values() if each.origin == "documents"]
    if gone := dict.fromkeys(each.title for each in found if not _is_there(store, each)):
        raise DocumentsGone(names=", ".join(gone))
    for title in dict.fromkeys(each.title for each in found if not _is_current(store, each)):
        yield Change(what="newer_version", before=title, after="")


def _is_there(store: IndexStore, passage: Passage) -> bool:
    try:
        store.document(passage.document_id)
    except UnknownDocument:
        return False
    return True


def _is_current(store: IndexStore, passage: Passage) -> bool:
    try:
        store.section(passage.section_id)
    except UnknownSection:
        return False
    return True


def _is(task: Task, step: str, attempt: int) -> bool:
    return (task.step, task.attempt) == (step, attempt)


def _before(moment: Moment, events: Sequence[Event]) -> Iterator[Event]:
    """What happened before the step and those beside it began, as a trace of another run begins with it. Tokens are not
    stored: what a step has written follows from its detail.
    """
    now = {(task.step, task.attempt) for task in moment.tasks}
    for event in events:
        match event:
            case StepStarted(step=step, attempt=attempt) if (step, attempt) in now:
                return
            case RunStarted() | RunFinished() | Token():
                continue
            case StepFinished():
                if written := _written(event):
                    yield Token(step=event.step, attempt=event.attempt, text=written)
                yield event.model_copy(update={"reused": True})
            case _:
                yield event


def _written(step: StepFinished) -> str:
    match step.detail:
        case GenerationDetail(drafted=False, text=text) | DraftDetail(kept=True, text=text) | DeclineDetail(text=text):
            return text
    return ""


def _outcome_beside(task: Task, finished: Mapping[tuple[str, int], StepFinished]) -> Override | None:
    """Of a step that ran beside the changed one. A speculative answer is in no checkpoint: it is dropped."""
    ended = finished.get((task.step, task.attempt))
    if ended is None:
        return None
    if isinstance(ended.detail, DraftDetail):
        dropped = ended.detail.model_copy(update={"kept": False, "text": ""})
        ended = ended.model_copy(update={"detail": dropped, "verdict": "no"})
        return Override(outcome=Outcome(ended.model_copy(update={"reused": True}), State()))
    if task.changes is None:
        return None
    return Override(outcome=Outcome(ended.model_copy(update={"reused": True}), task.changes))


@dataclass
class _Editing:
    """One step, as one edit after the other changes it."""

    state: State
    """before it"""
    task: Task
    finished: StepFinished
    index: str
    searched_by: Retrieval
    store: IndexStore
    given: State = field(default_factory=State)
    prompt: tuple[Message, ...] = ()
    outcome: State | None = None
    retrieval: Retrieval | None = None
    changes: list[Change] = field(default_factory=list)

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
        """Raises NothingChanged, and BadChange where a new search and what the last one found are to be changed."""
        if not self.changes:
            raise NothingChanged()
        if self.outcome is None:
            return Override(given=self.given, prompt=self.prompt)
        if self.given or self.prompt or self.retrieval:
            raise BadChange()
        if self.task.step == "retrieve":
            self.outcome["speculative"] = SpeculativeAnswer(self.outcome["passages"])
        return Override(outcome=Outcome(self.finished.model_copy(update={"reused": True}), self.outcome))

    def _note(self, what: str, before: object, after: object, passage: int | None = None) -> None:
        if before != after:
            self.changes.append(Change(what=what, before=str(before), after=str(after), passage=passage))

    def _tell(self, detail: Any, verdict: Verdict | None = None) -> None:
        """What the step's row is to say."""
        changed = {"detail": detail} | ({"verdict": verdict} if verdict else {})
        self.finished = self.finished.model_copy(update=changed)

    def _detail(self, kind: type[D]) -> D:
        if not isinstance(self.finished.detail, kind):
            raise BadChange()
        return self.finished.detail

    def _came_to(self) -> State:
        """What the step came to, to be changed. Raises BadChange where it came to nothing."""
        if self.outcome is None:
            if self.task.changes is None:
                raise BadChange()
            self.outcome = State(**self.task.changes)
        return self.outcome

    # Passages

    @property
    def _passages(self) -> list[Passage]:
        """Those that the step has found, or is given."""
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
        self._tell(detail.model_copy(update={"passages": tuple(passages)}))

    def _leave_out(self, number: int) -> None:
        passage = _numbered(self._passages, number)
        self._set_passages([each for each in self._passages if each is not passage])
        self._note("left_out", passage.title, "", number)

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
        place = Place(chunk_id=chunk.id, section_id=section.id, **section.model_dump(exclude={"id", "text"}))
        self._add(
            Passage(
                number=known.number if known else len(seen) + 1,
                **place.model_dump(exclude={"chunk_id"}),
                text=section.text[start:end],
                start=start,
                end=end,
                best_start=chunk.start,
                best_end=chunk.end,
                rank=len(retrieval["passages"]) + 1,
                score=0,
            )
        )

    def _add(self, passage: Passage) -> None:
        self._set_passages([*self._passages, passage])
        self._note("taken_in", "", passage.title, passage.number)

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
        self._tell(detail.model_copy(update={"grades": graded}), "yes" if outcome["relevant"] else "no")
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
                self._tell(detail.model_copy(update={"grade": grounding}), verdict)
                self._note("grounding", before.verdict, verdict)
            case UsefulnessDetail(grade=before) as detail:
                verdict = _turned(before)
                usefulness = Usefulness(verdict=verdict, score=None, rating=5 if verdict == "yes" else 1, by_hand=True)
                outcome["usefulness"] = usefulness
                self._tell(detail.model_copy(update={"grade": usefulness}), verdict)
                self._note("usefulness", before.verdict, verdict)
            case RetrievalNeedDetail(needed=needed) as detail:
                verdict = "no" if needed else "yes"
                grade = Grade(verdict=verdict, score=None, by_hand=True)
                outcome["needs_documents"] = not needed
                self._tell(detail.model_copy(update={"grade": grade, "needed": not needed}), verdict)
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
        self._tell(detail.model_copy(update={"after": query, "refused": None}), "yes")

    def _search_by(self, retrieval: Retrieval) -> None:
        check_retrieval(retrieval)
        before = self.searched_by
        for name in Retrieval.model_fields:
            self._note(name, getattr(before, name), getattr(retrieval, name))
        self.retrieval = retrieval


def _turned(grade: Grade, *, is_lenient: bool = False) -> Verdict:
    """`is_lenient`: what is not known counts as yes, as it does for passages."""
    counts_as_yes = grade.verdict == "yes" or (is_lenient and grade.verdict == "unknown")
    return "no" if counts_as_yes else "yes"


def _numbered(passages: Sequence[Passage], number: int) -> Passage:
    for each in passages:
        if each.number == number:
            return each
    raise BadChange()

"""The events of a run, in order."""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from index_store.base.errors import Failure
from rag.trace.details import CutBy, Detail, UnknownDetail
from rag.trace.grades import Verdict
from rag.trace.passages import Citation, Frozen, Retrieval
from rag.trace.upgrade import upgraded

Role = Literal["answers", "answers_from_model", "checks", "declines", "rewrites"]
"""what a step does for the answer: it writes one from passages, or from the model's memory, checks it, says that there
is none, or rewrites the question"""

StepVerdict = Verdict | Literal["stopped", "failed"]
"""how a step ended: with the verdict of its grade, or too early"""


class Style(Frozen):
    """The length, tone and temperature of an answer."""

    length: Literal["short", "normal", "long"] = "normal"
    tone: Literal["neutral", "polite", "plain"] = "neutral"
    temperature: float = Field(0, ge=0, le=2, allow_inf_nan=False)
    """only of answers: grades, rewrites and routes always use 0"""


class Totals(Frozen):
    seconds: float = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    rewrites: int = 0
    """number of rewrites"""
    generations: int = 0
    """answers written; only one of them counts"""
    reused_calls: int = 0
    reused_seconds: float = 0
    """of a fork: the seconds and calls of the steps from its origin. Other values do not include them"""

    @property
    def until(self) -> float:
        """Seconds from the start of the trace to its end, with the origin's steps."""
        return self.reused_seconds + self.seconds

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Change(Frozen):
    """One change of a step by a person."""

    what: str
    """a key such as `query`; pages have a text for it"""
    before: str
    after: str
    passage: int | None = None
    """number of the passage that it is about"""


class Origin(Frozen):
    """The run that this run was made from."""

    kind: Literal["fork", "comparison"]
    run_id: str | None = None
    """the origin of a fork; None for a comparison"""
    step: str | None = None
    attempt: int | None = None
    """of a fork: the step that was changed"""
    changes: tuple["Change", ...] = ()


class RunStarted(Frozen):
    kind: Literal["run_started"] = "run_started"
    run_id: str
    conversation_id: str
    question: str
    index: str
    """its name when the question was asked"""
    index_id: str | None = None
    """None if there was no such index, and for old runs"""
    pipeline: str
    model: str
    retrieval: Retrieval | None = None
    """chosen for this run; None: the pipeline's"""
    style: Style = Style()
    origin: Origin | None = None
    """None: asked in the chat, or on the command line"""
    follows: str | None = None
    """the run before it in its branch; "": it is the first; None: the one asked before it"""
    at: float
    """seconds since the epoch; all other times are seconds after this one"""

    @property
    def is_fork(self) -> bool:
        return self.origin is not None and self.origin.kind == "fork"


class StepStarted(Frozen):
    kind: Literal["step_started"] = "step_started"
    step: str
    attempt: int
    start: float


class Token(Frozen):
    """A piece of the answer that a step is writing. A later attempt replaces an earlier one completely."""

    kind: Literal["token"] = "token"
    step: str
    attempt: int
    text: str
    restart: bool = False
    """the text of this attempt so far is void: the connection broke, and it begins again"""


class StepFinished(Frozen):
    kind: Literal["step_finished"] = "step_finished"
    step: str
    attempt: int
    start: float
    milliseconds: float
    model_calls: int
    tokens_in: int
    tokens_out: int
    role: Role | None = None
    """None for other steps, and in old histories"""
    verdict: StepVerdict | None = None
    detail: Detail | None = None
    error: Failure | None = None
    """why the step, and the run with it, failed"""
    fallback: Failure | None = None
    """an error that the step could continue without; its detail shows what it did instead"""
    reused: bool = False
    """of a fork: taken from its origin, not run again"""
    prompt_by_hand: bool = False
    """a person edited the prompt of its first call"""

    @property
    def end(self) -> float:
        return self.start + self.milliseconds / 1000


class Decision(Frozen):
    """The branch that a router chose."""

    kind: Literal["decision"] = "decision"
    from_step: str = Field(alias="from")
    to: str
    why: str
    """a key such as `nothing_relevant`; pages have a text for it"""


RunStatus = Literal["finished", "stopped", "failed", "limited"]
"""`limited`: a limit of time, calls or tokens was reached"""

Outcome = Literal["answered", "confirmed", "unconfirmed", "not_in_documents", "from_model"]
"""the quality of an answer: not checked by the pipeline, checked and good, checked and not good, no answer, or from the
model's memory without any source"""


class RunFinished(Frozen):
    kind: Literal["run_finished"] = "run_finished"
    status: RunStatus
    answer: str
    """may be incomplete unless finished; [n] is the citation with that number"""
    outcome: Outcome | None
    citations: tuple[Citation, ...]
    totals: Totals
    unconfirmed: tuple[str, ...] = ()
    """claims of the answer that are not grounded in its sources"""
    is_cut: bool = False
    """the answer's end is missing"""
    cut_by: CutBy = "length"
    """what ended the answer, if it is cut"""
    pending: int = 0
    """documents of the index that were being added when it was searched last, so that the answer lacks them"""
    error: Failure | None = None


class UnknownEvent(Frozen):
    """An event from a newer version, which this version can't read."""

    kind: Literal["unknown"] = "unknown"
    named: str
    """its kind there"""
    stored: str
    """its JSON"""


Event = Annotated[
    RunStarted | StepStarted | Token | StepFinished | Decision | RunFinished | UnknownEvent,
    Field(discriminator="kind"),
]

_event: TypeAdapter[Event] = TypeAdapter(Event)


def started_of(events: Iterable[Event]) -> RunStarted | None:
    """None if a newer version wrote it in a way that this one can't read."""
    return next((each for each in events if isinstance(each, RunStarted)), None)


def to_json(event: Event) -> str:
    return event.model_dump_json(by_alias=True)


def from_json(text: str) -> Event:
    """Reads events of every version. What only a newer version knows becomes unknown."""
    try:
        return _event.validate_json(upgraded(text))
    except (ValueError, KeyError):
        return _as_far_as_known(text)


def _as_far_as_known(text: str) -> Event:
    try:
        stored = json.loads(text)
    except ValueError:
        stored = None
    if not isinstance(stored, dict):
        return UnknownEvent(named="", stored=text)
    try:
        return _event.validate_python(stored | {"detail": _unknown_detail(stored["detail"])})
    except (ValidationError, KeyError):
        return UnknownEvent(named=str(stored.get("kind", "")), stored=text)


def _unknown_detail(detail: Any) -> UnknownDetail:
    named = str(detail.get("type", "")) if isinstance(detail, dict) else ""
    return UnknownDetail(named=named, stored=json.dumps(detail, ensure_ascii=False))

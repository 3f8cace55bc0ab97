"""The events of a run, in order."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from index_store.base.errors import Failure
from rag.trace.details import Detail, UnknownDetail
from rag.trace.grades import Verdict
from rag.trace.passages import Citation, Frozen, Retrieval
from rag.trace.upgrade import upgraded

Role = Literal["answers", "answers_from_model", "checks", "declines", "rewrites"]
"""what a step is to the answer: it writes one from passages, or from what the model remembers, checks it, says that
there is none, or rewords the question"""

StepVerdict = Verdict | Literal["stopped", "failed"]
"""how a step ended: with the verdict of what it graded, or before that"""


class Style(Frozen):
    """The length, tone and temperature of an answer."""

    length: Literal["short", "normal", "long"] = "normal"
    tone: Literal["neutral", "polite", "plain"] = "neutral"
    temperature: float = Field(0, ge=0, le=2, allow_inf_nan=False)
    """of answers alone: what grades, rewrites or routes stays at 0"""


class Totals(Frozen):
    seconds: float = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    rewrites: int = 0
    """questions reworded"""
    generations: int = 0
    """answers written, of which the last one counts"""
    reused_calls: int = 0
    reused_seconds: float = 0
    """of a fork: what the steps that it has from its origin took then. Seconds, calls and tokens above are without"""

    @property
    def until(self) -> float:
        """Seconds from the beginning of the trace to its end: the steps of the origin stand on the same line."""
        return self.reused_seconds + self.seconds

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Change(Frozen):
    """One change of a step by a person."""

    what: str
    """a key that readers have words for, such as `query`"""
    before: str
    after: str
    passage: int | None = None
    """number of the one that it is about"""


class Origin(Frozen):
    """The run that this run was made from."""

    kind: Literal["fork", "comparison"]
    run_id: str | None = None
    """the run that it forks; of a comparison none"""
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
    """its name when it was asked"""
    index_id: str | None = None
    """None where there was no such index, and of runs of before"""
    pipeline: str
    model: str
    retrieval: Retrieval | None = None
    """as it was picked for this run; None: as the pipeline has it"""
    style: Style = Style()
    origin: Origin | None = None
    """None: it was asked in the chat, or on a command line"""
    follows: str | None = None
    """the run before it in its branch, "" where it is the first; None: whichever was asked before it"""
    at: float
    """seconds since the epoch; all other times are seconds since this one"""


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
    """what this attempt wrote so far is void: the connection broke, and it begins anew"""


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
    """None for all others, and in histories from before it was stored"""
    verdict: StepVerdict | None = None
    detail: Detail | None = None
    error: Failure | None = None
    """for which the step, and the run with it, failed"""
    fallback: Failure | None = None
    """what failed where the step could do without; its detail shows what it did instead"""
    reused: bool = False
    """of a fork: its origin did it, and it was not done again"""


class Decision(Frozen):
    """The branch that a router chose."""

    kind: Literal["decision"] = "decision"
    from_step: str = Field(alias="from")
    to: str
    why: str
    """a key such as `nothing_relevant`, for which the reader has the words"""


RunStatus = Literal["finished", "stopped", "failed", "limited"]
"""`limited`: the run's time, calls or tokens were used up"""

Outcome = Literal["answered", "confirmed", "unconfirmed", "not_in_documents", "from_model"]
"""what an answer is worth: not checked by the pipeline, checked and good, checked and not good, no answer, or from what
the model remembers, without any source"""


class RunFinished(Frozen):
    kind: Literal["run_finished"] = "run_finished"
    status: RunStatus
    answer: str
    """may be cut short unless finished; [n] stands for the citation of that number"""
    outcome: Outcome | None
    citations: tuple[Citation, ...]
    totals: Totals
    unconfirmed: tuple[str, ...] = ()
    """claims of the answer that are not grounded in its sources"""
    is_cut: bool = False
    """the answer's end is missing: the model had written as many tokens as it may"""
    error: Failure | None = None


class UnknownEvent(Frozen):
    """An event from a newer version, which this version can't read."""

    kind: Literal["unknown"] = "unknown"
    named: str
    """the kind that it has there"""
    stored: str
    """its JSON"""


Event = Annotated[
    RunStarted | StepStarted | Token | StepFinished | Decision | RunFinished | UnknownEvent,
    Field(discriminator="kind"),
]

_event: TypeAdapter[Event] = TypeAdapter(Event)


def to_json(event: Event) -> str:
    return event.model_dump_json(by_alias=True)


def from_json(text: str) -> Event:
    """Also of an earlier version's history; of a later one's what can be read, and the rest as unknown."""
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

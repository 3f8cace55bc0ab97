"""The typed events of a run: all that pages, the command line, the history and benchmarks know of one.

    run_started, (step_started, token*, step_finished, decision?)*, run_finished

Steps that run side by side interleave; `step` and `attempt` tell them apart. Events carry data, never words for a
person: whoever shows them finds the words in the reader's language.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from index_store import Added
from index_store.errors import Failure


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Citation(Frozen):
    """A piece of a document, as [number] in an answer points to it."""

    number: int
    """from 1; kept for the whole run"""
    document_id: str
    section_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    text: str
    start: int
    end: int
    """where `text` stands in its section, in characters"""


class Passage(Citation):
    """A piece of a document that a search found."""

    rank: int
    """from 1"""
    score: float


class Grade(Frozen):
    """A grader's word on one thing. `unknown`: it gave no readable answer, which is neither yes nor no."""

    verdict: Literal["yes", "no", "unknown"]
    score: float | None
    """0 to 1, how sure of yes; the cut is at 0.5"""
    reason: str = ""
    """in the grader's words; empty where it gives none"""
    margin: float | None = None
    """log P(yes) - log P(no), for a grader that is read by its log-probabilities"""
    cut: float | None = None
    """the margin from which on it counts as yes"""


class RetrievalDetail(Frozen):
    type: Literal["retrieval"] = "retrieval"
    query: str
    mode: str
    unit: str
    passages: tuple[Passage, ...]


class PassageGrade(Frozen):
    passage: Passage
    grade: Grade
    known: bool = False
    """graded earlier in this run, so not asked again"""


class GradesDetail(Frozen):
    type: Literal["grades"] = "grades"
    question: str
    grades: tuple[PassageGrade, ...]

    @property
    def relevant(self) -> int:
        return sum(each.grade.verdict != "no" for each in self.grades)


class GenerationDetail(Frozen):
    type: Literal["generation"] = "generation"
    passages: tuple[int, ...]
    """the numbers of those that the model was given"""
    text: str
    cited: tuple[int, ...]


class RewriteDetail(Frozen):
    type: Literal["rewrite"] = "rewrite"
    before: str
    after: str
    refused: str | None = None
    """what the model wrote, where that was no usable question and `before` was kept"""


class Claim(Frozen):
    """A sentence of an answer, with the numbers of the passages that it cites."""

    text: str
    sources: tuple[int, ...]


class GroundingDetail(Frozen):
    type: Literal["grounding"] = "grounding"
    grade: Grade
    claims: tuple[Claim, ...]


class UsefulnessDetail(Frozen):
    type: Literal["usefulness"] = "usefulness"
    grade: Grade


class AnswerCheckDetail(Frozen):
    type: Literal["answer_check"] = "answer_check"
    grounding: Grade
    usefulness: Grade


class DocumentsDetail(Frozen):
    type: Literal["documents"] = "documents"
    added: tuple[Added, ...]


class ModelDetail(Frozen):
    type: Literal["model"] = "model"
    name: str


Detail = Annotated[
    RetrievalDetail
    | GradesDetail
    | GenerationDetail
    | RewriteDetail
    | GroundingDetail
    | UsefulnessDetail
    | AnswerCheckDetail
    | DocumentsDetail
    | ModelDetail,
    Field(discriminator="type"),
]


class Totals(Frozen):
    seconds: float = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    rewrites: int = 0
    """questions reworded"""
    generations: int = 0
    """answers written, of which the last one counts"""

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class RunStarted(Frozen):
    kind: Literal["run_started"] = "run_started"
    run_id: str
    conversation_id: str
    question: str
    index: str
    pipeline: str
    model: str
    at: float
    """seconds since the epoch; all other times are seconds since this one"""


class StepStarted(Frozen):
    kind: Literal["step_started"] = "step_started"
    step: str
    attempt: int
    start: float


class Token(Frozen):
    """A piece of the answer that a step is writing. A later attempt replaces the whole of an earlier one."""

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
    verdict: Literal["yes", "no", "unknown", "stopped", "failed"] | None = None
    detail: Detail | None = None
    error: Failure | None = None


class Decision(Frozen):
    """Which way the graph went at a fork."""

    kind: Literal["decision"] = "decision"
    from_step: str = Field(alias="from")
    to: str
    why: str
    """a key such as `nothing_relevant`, for which the reader has the words"""


RunStatus = Literal["finished", "stopped", "failed", "limited"]
"""`limited`: the run's time was up"""

Outcome = Literal["answered", "confirmed", "unconfirmed", "not_in_documents"]
"""what an answer is worth: not checked by the pipeline, checked and good, checked and not good, or an honest no"""


class RunFinished(Frozen):
    kind: Literal["run_finished"] = "run_finished"
    status: RunStatus
    answer: str
    """may be cut short unless finished; [n] stands for the citation of that number"""
    outcome: Outcome | None
    citations: tuple[Citation, ...]
    totals: Totals
    error: Failure | None = None


Event = Annotated[RunStarted | StepStarted | Token | StepFinished | Decision | RunFinished, Field(discriminator="kind")]

_event: TypeAdapter[Event] = TypeAdapter(Event)


def to_json(event: Event) -> str:
    return event.model_dump_json(by_alias=True)


def from_json(text: str) -> Event:
    return _event.validate_json(text)

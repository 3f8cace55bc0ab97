"""The typed events of a run: all that pages, the command line, the history and benchmarks know of one.

    run_started, (step_started, token*, step_finished, decision?)*, run_finished

Steps that run side by side interleave; `step` and `attempt` tell them apart. Events carry data, never words for a
person: whoever shows them finds the words in the reader's language.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from index_store import Added, Place
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
    best_start: int | None = None
    best_end: int | None = None
    """where in the section the chunk stands that was found; None in histories of before it was noted"""

    @property
    def found(self) -> tuple[int, int]:
        """Where that chunk stands in `text`; all of it where that is not known."""
        if self.best_start is None or self.best_end is None:
            return 0, len(self.text)
        return max(0, self.best_start - self.start), min(len(self.text), self.best_end - self.start)


class Passage(Citation):
    """A piece of a document that a search found."""

    rank: int
    """from 1"""
    score: float
    """of a hybrid search both sides fused, of others the score of their side"""
    vector_rank: int | None = None
    """from 1; None where that side did not find it, or was not asked"""
    vector_score: float | None = None
    """cosine, -1 to 1"""
    keyword_rank: int | None = None
    keyword_score: float | None = None
    """the share of the question that it holds, 0 to 1"""
    copies: tuple[Place, ...] = ()
    """where next to the same text stands"""
    section_length: int | None = None
    """characters of the section, where it was trimmed to fit the model"""


class Retrieval(Frozen):
    """How documents are searched."""

    mode: str = "vector"
    """vector, keyword or hybrid"""
    unit: str = "chunk"
    """what the model reads of what was found: the chunk, or the section that it stands in"""
    k: int = 4
    """hits"""


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
    words: tuple[str, ...] | None = None
    """what the keyword side was asked for instead of the query"""
    left_out: int = 0
    """hits, the last ones, for which the model has no room"""

    @property
    def trimmed(self) -> int:
        return sum(passage.section_length is not None for passage in self.passages)


NotUsed = Literal["failed", "none", "invented", "too_many", "no_keyword_side"]


class KeywordsDetail(Frozen):
    """Search words taken out of a question, or what is searched in their stead: the question's own words."""

    type: Literal["keywords"] = "keywords"
    question: str
    words: tuple[str, ...]
    """empty where the question's own are used"""
    named: tuple[str, ...] = ()
    """all that the model named, with those that do not stand in the question"""
    own_words: tuple[str, ...] = ()
    """the question's, as the keyword side reads it"""
    why: NotUsed | None = None
    """for which reason the model's are not"""
    error: Failure | None = None
    """what failed, where the model did"""


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
    | KeywordsDetail
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
    retrieval: Retrieval | None = None
    """as it was picked for this run; None: as the pipeline has it"""
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

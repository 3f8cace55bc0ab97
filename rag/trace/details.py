"""The details of steps: one type for each kind of step."""

from typing import Annotated, Literal

from pydantic import Field

from index_store.base.errors import Failure
from index_store.ingestion.results import IngestResult
from rag.trace.grades import Grade, Grounding, PassageGrade, Usefulness, Verdict
from rag.trace.passages import Frozen, Passage


class RetrievalDetail(Frozen):
    type: Literal["retrieval"] = "retrieval"
    query: str
    mode: str
    unit: str
    passages: tuple[Passage, ...]
    words: tuple[str, ...] | None = None
    """what the keyword side was asked for instead of the query"""
    left_out: int = 0
    """hits, the last ones, that the context window does not hold"""

    @property
    def trimmed(self) -> int:
        return sum(passage.section_length is not None for passage in self.passages)


NotUsed = Literal["failed", "none", "invented", "too_many", "no_keyword_side"]


class KeywordsDetail(Frozen):
    """Search words from a question, or the words of the question itself in their place."""

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
    drafted: bool = False
    """it was a speculative answer, and cost no call more"""
    is_cut: bool = False
    """the model had written as many tokens as it may: its end is missing"""


class DraftDetail(Frozen):
    """A speculative answer: started while its passages were graded."""

    type: Literal["draft"] = "draft"
    passages: tuple[int, ...]
    text: str
    """empty where it was dropped"""
    kept: bool


class RewriteDetail(Frozen):
    type: Literal["rewrite"] = "rewrite"
    before: str
    after: str
    refused: str | None = None
    """what the model wrote, where that was no usable question and `before` was kept"""
    reason: str = ""
    """why another query is needed, as the model was told: of its answer's grader, or what was found and dropped"""


class Claim(Frozen):
    """A sentence of an answer, with the numbers of the passages that it cites."""

    text: str
    sources: tuple[int, ...]


class GroundingDetail(Frozen):
    type: Literal["grounding"] = "grounding"
    grade: Grounding
    claims: tuple[Claim, ...]


class UsefulnessDetail(Frozen):
    type: Literal["usefulness"] = "usefulness"
    grade: Usefulness


class AnswerCheckDetail(Frozen):
    type: Literal["answer_check"] = "answer_check"
    grounding: Grounding
    usefulness: Usefulness

    @property
    def verdict(self) -> Verdict:
        """The worse of the two."""
        worst_first: tuple[Verdict, ...] = ("no", "unknown", "yes")
        return next(each for each in worst_first if each in (self.grounding.verdict, self.usefulness.verdict))


class Attempt(Frozen):
    """An answer with the results of its checks."""

    number: int
    """from 1, in the order in which they were written"""
    text: str
    cited: tuple[int, ...]
    grounding: Grounding
    usefulness: Usefulness


class AttemptsDetail(Frozen):
    """The best of several answers that all failed their checks, with the claims that were not confirmed."""

    type: Literal["attempts"] = "attempts"
    attempts: tuple[Attempt, ...]
    chosen: int
    """number of the one that is kept"""


class Turn(Frozen):
    """An earlier turn of the conversation."""

    question: str
    answer: str


class StandaloneDetail(Frozen):
    """A follow-up, condensed into a standalone question."""

    type: Literal["standalone"] = "standalone"
    before: str
    after: str
    why: Literal["rewritten", "stands_alone", "refused", "failed"]
    """`refused`: what the model wrote was no usable question, and `before` is kept; `failed`: the model did"""
    turns: tuple[Turn, ...] = ()
    """what it was read against"""
    refused: str | None = None


class Probe(Frozen):
    """What the index holds of the question, whatever the run's own searches made of it: a search by vector and keyword
    at once, by the question itself, for chunks.
    """

    nearest: tuple[Passage, ...]
    """nearest first; those that the run did not find have numbers behind all that it found"""
    shares: tuple[float, ...]
    """of each of them, how much of the question's words it holds, rare ones counting most: 0 to 1"""
    seen: tuple[int, ...]
    """the numbers of those that it found"""
    mean: float
    """the mean cosine of the question to the passages of the index: what is no nearer has nothing to do with it"""
    words: tuple[str, ...]
    """of the question, those that are searched, as they are written"""
    absent: tuple[str, ...]
    """those of them that stand nowhere in the index"""


class DeclineDetail(Frozen):
    """No answer: the searches, and the nearest passages."""

    type: Literal["decline"] = "decline"
    text: str
    queries: tuple[str, ...]
    nearest: tuple[Passage, ...]
    web: bool = False
    """whether the web was searched too"""
    probe: Probe | None = None
    """None in histories of before it was made, and where it failed"""


class WebSearchDetail(Frozen):
    type: Literal["web_search"] = "web_search"
    query: str
    provider: str | None
    """`tavily` or `duckduckgo`; None where none is set up"""
    passages: tuple[Passage, ...]
    why: Literal["off", "failed", "nothing"] | None = None
    """there are none"""
    error: Failure | None = None


class AssessmentDetail(Frozen):
    """Whether retrieval was good enough, by the scores of its grades (CRAG, arXiv 2401.15884)."""

    type: Literal["assessment"] = "assessment"
    grades: tuple[PassageGrade, ...]
    lower: float
    upper: float
    """`correct` from one score of `upper` on, `incorrect` where all are below `lower`"""
    rule: Literal["scores", "any"] = "scores"
    """`any`, of the LangGraph article: `correct` where no passage is irrelevant, `incorrect` where all are"""
    action: Literal["correct", "incorrect", "ambiguous"]


class Strip(Frozen):
    """A sentence or two of a passage."""

    passage: int
    """number of the passage"""
    document_id: str = ""
    """empty for the web, and in histories of before it was noted"""
    text: str
    score: float
    """0 to 1, how much of the question it has"""
    kept: bool


class RefinementDetail(Frozen):
    type: Literal["refinement"] = "refinement"
    strips: tuple[Strip, ...]


Route = Literal["talk", "documents", "web"]


class RouteDetail(Frozen):
    """The kind of a question, and its route."""

    type: Literal["route"] = "route"
    question: str
    route: Route
    why: str
    """a key that readers have words for, such as `greeting`"""
    reason: str = ""
    """in the model's words, where it was asked"""
    scores: dict[str, float] = Field(default_factory=dict)
    """by route, for models that score each way"""


class RetrievalNeedDetail(Frozen):
    """Whether the question needs documents at all (Retrieve of Self-RAG)."""

    type: Literal["retrieval_need"] = "retrieval_need"
    grade: Grade
    needed: bool
    """what was made of the grade: only one that is sure of no spares the search"""


class Candidate(Frozen):
    """An answer from one passage only, scored (Self-RAG, arXiv 2310.11511)."""

    passage: Passage | None
    """None: written without any"""
    text: str
    relevance: Grade
    grounding: Grounding
    usefulness: Usefulness
    score: float
    """the weighted sum of the three"""
    is_no_answer: bool = Field(default=False, alias="refuses")
    """it says that the passage does not hold the answer; stored under the name that it had first"""
    is_cut: bool = False
    """its end is missing"""

    @property
    def is_grounded(self) -> bool:
        """An answer, by a passage that bears on the question, in part at least; what was not graded may be."""
        return not self.is_no_answer and self.relevance.verdict != "no" and self.grounding.level != "no"


class CandidatesDetail(Frozen):
    type: Literal["candidates"] = "candidates"
    candidates: tuple[Candidate, ...]
    """best first"""


class DocumentsDetail(Frozen):
    type: Literal["documents"] = "documents"
    added: tuple[IngestResult, ...]


class ModelDetail(Frozen):
    type: Literal["model"] = "model"
    name: str


class UnknownDetail(Frozen):
    """A detail from a newer version, which this version can't read."""

    type: Literal["unknown"] = "unknown"
    named: str
    """the type that it has there"""
    stored: str
    """its JSON"""


Detail = Annotated[
    RetrievalDetail
    | KeywordsDetail
    | GradesDetail
    | GenerationDetail
    | DraftDetail
    | RewriteDetail
    | GroundingDetail
    | UsefulnessDetail
    | AnswerCheckDetail
    | AttemptsDetail
    | StandaloneDetail
    | DeclineDetail
    | WebSearchDetail
    | AssessmentDetail
    | RefinementDetail
    | RouteDetail
    | RetrievalNeedDetail
    | CandidatesDetail
    | DocumentsDetail
    | ModelDetail
    | UnknownDetail,
    Field(discriminator="type"),
]

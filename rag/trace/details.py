"""The details of steps: one type for each kind of step."""

from typing import Annotated, Literal

from pydantic import Field

from index_store.base.errors import Failure
from index_store.ingestion.results import IngestResult
from rag.trace.grades import Grade, Grounding, PassageGrade, Usefulness, Verdict
from rag.trace.passages import Frozen, Passage


class LeftOut(Frozen):
    """A passage that a person left out of a search, for a fork. The run's checkpoints still hold its text."""

    document_id: str
    number: int


class RetrievalDetail(Frozen):
    type: Literal["retrieval"] = "retrieval"
    query: str
    mode: str
    unit: str
    passages: tuple[Passage, ...]
    by_hand: tuple[LeftOut, ...] = ()
    """what a person left out of `passages`"""
    words: tuple[str, ...] | None = None
    """words for the keyword search, instead of the query"""
    left_out: int = 0
    """number of last hits that did not fit into the context window"""
    pending: int = 0
    """documents of the index that were being added, so that this search could not find them"""

    @property
    def trimmed(self) -> int:
        return sum(passage.section_length is not None for passage in self.passages)


CutBy = Literal["length", "filter", "service"]
"""what ended an answer too early: the limit of tokens, a content filter, or the service for another reason"""

NotUsed = Literal["failed", "none", "invented", "too_many", "no_keyword_side"]


class KeywordsDetail(Frozen):
    """Search words from a question, or the question's own words instead."""

    type: Literal["keywords"] = "keywords"
    question: str
    words: tuple[str, ...]
    """empty if the question's own words are used"""
    named: tuple[str, ...] = ()
    """all words from the model, also those that are not in the question"""
    own_words: tuple[str, ...] = ()
    """the question's words, as the keyword search reads them"""
    why: NotUsed | None = None
    """why the model's words are not used"""
    error: Failure | None = None
    """the model's error, if it failed"""


class GradesDetail(Frozen):
    type: Literal["grades"] = "grades"
    question: str
    grades: tuple[PassageGrade, ...]

    @property
    def relevant(self) -> int:
        return self._count("yes")

    @property
    def ungraded(self) -> int:
        """They are read, because they may be relevant."""
        return self._count("unknown")

    def _count(self, verdict: Verdict) -> int:
        return sum(each.grade.verdict == verdict for each in self.grades)


class GenerationDetail(Frozen):
    type: Literal["generation"] = "generation"
    passages: tuple[int, ...]
    """numbers of the passages that the model was given"""
    text: str
    cited: tuple[int, ...]
    drafted: bool = False
    """it was a speculative answer, so it cost no further call"""
    is_cut: bool = False
    """its end is missing"""
    cut_by: CutBy = "length"
    """what ended it, if it is cut"""


class DraftDetail(Frozen):
    """A speculative answer: started while its passages were graded."""

    type: Literal["draft"] = "draft"
    passages: tuple[int, ...]
    text: str
    """empty if it was dropped"""
    kept: bool


class RewriteDetail(Frozen):
    type: Literal["rewrite"] = "rewrite"
    before: str
    after: str
    refused: str | None = None
    """the model's text, if it was not a usable query and `before` was kept"""
    reason: str = ""
    """why another query is needed, as the model was told: from the answer's grader, or the dropped passages"""


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
        """The worse of the two verdicts."""
        worst_first: tuple[Verdict, ...] = ("no", "unknown", "yes")
        return next(each for each in worst_first if each in (self.grounding.verdict, self.usefulness.verdict))


class Attempt(Frozen):
    """An answer with the results of its checks."""

    number: int
    """from 1, in the order of writing"""
    text: str
    cited: tuple[int, ...]
    grounding: Grounding
    usefulness: Usefulness


class AttemptsDetail(Frozen):
    """The best of several answers that all failed their checks, with the claims that were not confirmed."""

    type: Literal["attempts"] = "attempts"
    attempts: tuple[Attempt, ...]
    chosen: int
    """number of the attempt that is kept"""


class Turn(Frozen):
    """An earlier turn of the conversation."""

    question: str
    answer: str


class StandaloneDetail(Frozen):
    """A follow-up, condensed into a standalone question."""

    type: Literal["standalone"] = "standalone"
    before: str
    after: str
    why: Literal["rewritten", "stands_alone", "joined", "refused", "failed"]
    """`joined`: the model made it no clearer, or only repeated an earlier question, and `after` is the question before
    it, or that one, and `before`; `refused`: the model wrote no usable question, and `before` is kept; `failed`: the
    model failed
    """
    turns: tuple[Turn, ...] = ()
    """the turns that the model was given"""
    refused: str | None = None


class Probe(Frozen):
    """What the index has for the question, independent of the run's own searches: chunks found by vector and keyword
    with the question itself.
    """

    nearest: tuple[Passage, ...]
    """the nearest first; passages that the run did not find have higher numbers than those that it found"""
    shares: tuple[float, ...]
    """for each of them, the share of the question's words that it contains, 0 to 1; rare words count most"""
    seen: tuple[int, ...]
    """numbers of those that the run found"""
    mean: float
    """the mean cosine of the question to the index's passages; a passage that is no nearer is unrelated"""
    words: tuple[str, ...]
    """the question's search words, as dictionaries list them"""
    absent: tuple[str, ...]
    """those that say what the question is about and are nowhere in the index"""


class DeclineDetail(Frozen):
    """No answer: the searches, and the nearest passages."""

    type: Literal["decline"] = "decline"
    text: str
    queries: tuple[str, ...]
    nearest: tuple[Passage, ...]
    web: bool = False
    """the web was searched too"""
    probe: Probe | None = None
    """None if it failed, and in old histories"""
    passages: tuple[int, ...] | None = None
    """numbers of the passages in which the model found no answer; empty if it was not asked; None in old histories"""


class WebSearchDetail(Frozen):
    type: Literal["web_search"] = "web_search"
    query: str
    provider: str | None
    """`tavily` or `duckduckgo`; None if none is set up"""
    passages: tuple[Passage, ...]
    why: Literal["off", "failed", "nothing"] | None = None
    """why there are no passages"""
    error: Failure | None = None


class AssessmentDetail(Frozen):
    """Whether retrieval was good enough, by the scores of its grades (CRAG, arXiv 2401.15884)."""

    type: Literal["assessment"] = "assessment"
    grades: tuple[PassageGrade, ...]
    lower: float
    upper: float
    """`correct` if one score is at least `upper`, `incorrect` if all are below `lower`"""
    rule: Literal["scores", "any"] = "scores"
    """`any`, from the LangGraph article: `correct` if no passage is irrelevant, `incorrect` if all are"""
    action: Literal["correct", "incorrect", "ambiguous"]


class Strip(Frozen):
    """One or two sentences of a passage."""

    passage: int
    """number of the passage"""
    document_id: str = ""
    """empty for the web, and in old histories"""
    text: str
    score: float
    """0 to 1, its overlap with the question"""
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
    """a key such as `greeting`; pages have a text for it"""
    reason: str = ""
    """in the model's own text, if it was asked"""
    scores: dict[str, float] = Field(default_factory=dict)
    """by route, for models that score each route"""


class RetrievalNeedDetail(Frozen):
    """Whether the question needs documents at all (Retrieve of Self-RAG)."""

    type: Literal["retrieval_need"] = "retrieval_need"
    grade: Grade
    needed: bool
    """the decision: only a grade that is sure of no saves the search"""


class Candidate(Frozen):
    """An answer from one passage only, scored (Self-RAG, arXiv 2310.11511)."""

    passage: Passage | None
    """None: written without a passage"""
    text: str
    relevance: Grade
    grounding: Grounding
    usefulness: Usefulness
    score: float
    """the weighted sum of the three"""
    is_no_answer: bool = Field(default=False, alias="refuses")
    """it says that the passage does not contain the answer; stored under its first name"""
    is_cut: bool = False
    """its end is missing"""
    cut_by: CutBy = "length"
    """what ended it, if it is cut"""
    cited: tuple[int, ...] | None = None
    """None: it is of an earlier version, and cites what its markers name"""

    @property
    def is_grounded(self) -> bool:
        """True for an answer that is at least partly grounded in a relevant passage. Unknown grades count in its
        favour.
        """
        return not self.is_no_answer and self.relevance.verdict != "no" and self.grounding.level != "no"


class FailedCandidate(Frozen):
    """A passage from which no answer could be written."""

    passage: Passage
    relevance: Grade
    error: Failure


class CandidatesDetail(Frozen):
    type: Literal["candidates"] = "candidates"
    candidates: tuple[Candidate, ...]
    """the best first"""
    failed: tuple[FailedCandidate, ...] = ()
    """empty in old histories"""


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
    """its type there"""
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

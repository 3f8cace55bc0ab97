"""A detail of each kind that a step can report, with texts that try to be HTML and Markdown.

The details written here show what a view must distinguish. For other kinds, a detail is made from the fields.
"""

from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from index_store.base.errors import EmptyDocument, Failure
from index_store.ingestion.results import IngestResult, IngestStatus
from index_store.search.hits import TextLocation
from rag.trace.details import (
    AnswerCheckDetail,
    AssessmentDetail,
    Attempt,
    AttemptsDetail,
    Candidate,
    CandidatesDetail,
    Claim,
    DeclineDetail,
    Detail,
    DocumentsDetail,
    DraftDetail,
    GenerationDetail,
    GradesDetail,
    GroundingDetail,
    KeywordsDetail,
    ModelDetail,
    Probe,
    RefinementDetail,
    RetrievalDetail,
    RetrievalNeedDetail,
    RewriteDetail,
    RouteDetail,
    StandaloneDetail,
    Strip,
    Turn,
    UsefulnessDetail,
    WebSearchDetail,
)
from rag.trace.events import StepFinished
from rag.trace.grades import Explanation, Factor, Grade, Grounding, PassageGrade, Usefulness
from rag.trace.passages import Passage

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> [*go*](https://elsewhere.example) \"'&"

YES = Grade(verdict="yes", score=0.9, reason=HOSTILE)
WEIGHED = Explanation(en=HOSTILE, ja=HOSTILE, factors=(Factor(en=HOSTILE, ja=HOSTILE, value=-2.0),) * 2, threshold=0.5)
NO = Grade(verdict="no", score=0.1, explanation=WEIGHED)
UNKNOWN = Grade(verdict="unknown", score=None)
FULLY = Grounding(verdict="yes", score=1, reason=HOSTILE, level="fully")
PARTLY = Grounding(verdict="no", score=0.4, reason=HOSTILE, level="partly", unsupported=(HOSTILE, "2"))
OF_BEFORE = Grounding(verdict="no", score=0.1)
USEFUL = Usefulness(verdict="yes", score=1, reason=HOSTILE, rating=5)
NOT_RATED = Usefulness(verdict="unknown", score=None)

PASSAGE = Passage(
    number=1,
    rank=1,
    score=0.87,
    document_id="d",
    section_id="s",
    source=HOSTILE,
    title=HOSTILE,
    headings=(HOSTILE,),
    page=3,
    text=HOSTILE,
    start=0,
    end=len(HOSTILE),
)

BOTH_SIDES = PASSAGE.model_copy(
    update={
        "score": 0.0325,
        "vector_rank": 2,
        "vector_score": 0.871,
        "keyword_rank": 1,
        "keyword_score": 0.9,
        "best_start": 8,
        "best_end": 20,
        "section_length": 4000,
        "copies": (
            TextLocation(
                chunk_id="c", section_id="t", document_id="e", source=HOSTILE, title=HOSTILE, headings=(), page=None
            ),
        ),
    }
)


OUTSIDE = PASSAGE.model_copy(
    update={"document_id": "", "section_id": "", "headings": (), "page": None, "origin": "web", "published": HOSTILE}
)


def added(error: EmptyDocument | None) -> IngestResult:
    status = IngestStatus.FAILED if error else IngestStatus.READY
    return IngestResult(
        source=HOSTILE,
        status=status,
        document_id=None,
        chunks=0,
        sections=0,
        error=error.as_failure() if error else None,
    )


WRITTEN_OUT = (
    RetrievalDetail(query=HOSTILE, mode="vector", unit="chunk", passages=(PASSAGE,)),
    RetrievalDetail(query=HOSTILE, mode="vector", unit="chunk", passages=()),
    RetrievalDetail(
        query=HOSTILE,
        mode="hybrid",
        unit="section",
        passages=(BOTH_SIDES, BOTH_SIDES.model_copy(update={"vector_rank": None, "vector_score": None})),
        words=(HOSTILE,),
        left_out=3,
        pending=2,
    ),
    KeywordsDetail(question=HOSTILE, words=(HOSTILE,), named=(HOSTILE, "x"), own_words=(HOSTILE,)),
    KeywordsDetail(
        question=HOSTILE,
        words=(),
        own_words=(HOSTILE,),
        why="failed",
        error=EmptyDocument(name=HOSTILE).as_failure(),
    ),
    KeywordsDetail(question=HOSTILE, words=(), why="no_keyword_side"),
    GradesDetail(
        question=HOSTILE,
        grades=(
            PassageGrade(passage=PASSAGE, grade=YES),
            PassageGrade(passage=PASSAGE, grade=NO, known=True),
            PassageGrade(passage=PASSAGE, grade=UNKNOWN),
            PassageGrade(passage=PASSAGE, grade=UNKNOWN, error=EmptyDocument(name=HOSTILE).as_failure()),
        ),
    ),
    GenerationDetail(passages=(1,), text=HOSTILE, cited=(1,)),
    GenerationDetail(passages=(1,), text=HOSTILE, cited=(1,), drafted=True),
    DraftDetail(passages=(1,), text=HOSTILE, kept=True),
    DraftDetail(passages=(1,), text="", kept=False),
    RewriteDetail(before=HOSTILE, after=HOSTILE, reason=HOSTILE),
    RewriteDetail(before=HOSTILE, after=HOSTILE, refused=HOSTILE),
    GroundingDetail(grade=FULLY, claims=(Claim(text=HOSTILE, sources=(1,)), Claim(text=HOSTILE, sources=()))),
    GroundingDetail(grade=PARTLY, claims=()),
    GroundingDetail(grade=OF_BEFORE, claims=()),
    UsefulnessDetail(grade=USEFUL),
    UsefulnessDetail(grade=NOT_RATED),
    AnswerCheckDetail(grounding=PARTLY, usefulness=USEFUL),
    AnswerCheckDetail(grounding=OF_BEFORE, usefulness=NOT_RATED),
    AttemptsDetail(
        attempts=(
            Attempt(number=1, text=HOSTILE, cited=(1,), grounding=PARTLY, usefulness=USEFUL),
            Attempt(number=2, text=HOSTILE, cited=(), grounding=OF_BEFORE, usefulness=NOT_RATED),
        ),
        chosen=1,
    ),
    RetrievalNeedDetail(grade=YES, needed=True),
    RetrievalNeedDetail(grade=NO, needed=False),
    RetrievalNeedDetail(grade=UNKNOWN, needed=True),
    CandidatesDetail(
        candidates=(
            Candidate(passage=PASSAGE, text=HOSTILE, relevance=YES, grounding=PARTLY, usefulness=USEFUL, score=2),
            Candidate(passage=None, text=HOSTILE, relevance=UNKNOWN, grounding=FULLY, usefulness=NOT_RATED, score=1),
            Candidate(passage=PASSAGE, text="", relevance=NO, grounding=OF_BEFORE, usefulness=USEFUL, score=0.5),
        )
    ),
    CandidatesDetail(candidates=()),
    RouteDetail(question=HOSTILE, route="talk", why="greeting"),
    RouteDetail(question=HOSTILE, route="web", why="model", reason=HOSTILE),
    RouteDetail(question=HOSTILE, route="documents", why="in_doubt", scores={"talk": 0.1, "web": 0.4}),
    WebSearchDetail(query=HOSTILE, provider="tavily", passages=(OUTSIDE,)),
    WebSearchDetail(query=HOSTILE, provider=None, passages=(), why="off"),
    WebSearchDetail(query=HOSTILE, provider="duckduckgo", passages=(), why="nothing"),
    WebSearchDetail(
        query=HOSTILE,
        provider="tavily",
        passages=(),
        why="failed",
        error=EmptyDocument(name=HOSTILE).as_failure(),
    ),
    AssessmentDetail(
        grades=(PassageGrade(passage=PASSAGE, grade=YES), PassageGrade(passage=PASSAGE, grade=NO)),
        lower=0.3,
        upper=0.7,
        action="correct",
    ),
    AssessmentDetail(grades=(), rule="any", lower=0.3, upper=0.7, action="incorrect"),
    RefinementDetail(
        strips=(
            Strip(passage=1, text=HOSTILE, score=0.8, kept=True),
            Strip(passage=1, text=HOSTILE, score=0.1, kept=False),
        )
    ),
    StandaloneDetail(
        before=HOSTILE, after=f"{HOSTILE}?", why="rewritten", turns=(Turn(question=HOSTILE, answer=HOSTILE),)
    ),
    StandaloneDetail(before=HOSTILE, after=HOSTILE, why="refused", refused=HOSTILE),
    StandaloneDetail(before=HOSTILE, after=HOSTILE, why="stands_alone"),
    StandaloneDetail(before=HOSTILE, after=HOSTILE * 2, why="joined", refused=HOSTILE),
    StandaloneDetail(before=HOSTILE, after=HOSTILE, why="failed"),
    DeclineDetail(text=HOSTILE, queries=(HOSTILE,), nearest=(PASSAGE,)),
    DeclineDetail(text=HOSTILE, queries=(HOSTILE,), nearest=()),
    DeclineDetail(
        text=HOSTILE,
        queries=(HOSTILE,),
        nearest=(PASSAGE,),
        probe=Probe(nearest=(PASSAGE,), shares=(0.5,), seen=(), mean=0.2, words=(HOSTILE,), absent=(HOSTILE,)),
    ),
    DocumentsDetail(added=(added(None), added(EmptyDocument(name=HOSTILE)))),
    ModelDetail(name=HOSTILE),
)


def made(kind: Any) -> Any:
    """A value of any type that a field of a detail can have."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Failure:
        return EmptyDocument(name=HOSTILE).as_failure()
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind(**{name: made(field.annotation) for name, field in kind.model_fields.items()})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if origin is Literal:
        return arguments[0]
    if origin is tuple:
        return (made(arguments[0]),)
    if origin is dict:
        return {made(arguments[0]): made(arguments[1])}
    if arguments:
        return made(next(each for each in arguments if each is not NoneType))
    return {str: HOSTILE, bool: True, int: 1, float: 0.5}[kind]


KINDS = get_args(get_args(Detail)[0])
DETAILS = (
    *WRITTEN_OUT,
    *(made(kind) for kind in KINDS if not any(isinstance(each, kind) for each in WRITTEN_OUT)),
)


def finished(detail) -> StepFinished:
    return StepFinished(
        step="retrieve",
        attempt=1,
        start=0.0,
        milliseconds=1500,
        model_calls=1,
        tokens_in=10,
        tokens_out=5,
        detail=detail,
    )

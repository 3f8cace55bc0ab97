"""A detail of each kind that a step can report, with words in it that try to be HTML and Markdown."""

from index_store import Added, AddStatus, Place
from index_store.errors import EmptyDocument
from rag.trace import (
    AnswerCheckDetail,
    Claim,
    DocumentsDetail,
    GenerationDetail,
    Grade,
    GradesDetail,
    GroundingDetail,
    KeywordsDetail,
    ModelDetail,
    Passage,
    PassageGrade,
    RetrievalDetail,
    RewriteDetail,
    StepFinished,
    UsefulnessDetail,
)

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> [*go*](https://elsewhere.example) \"'&"

YES = Grade(verdict="yes", score=0.9, reason=HOSTILE)
NO = Grade(verdict="no", score=0.1, margin=-2.0, cut=0.5)

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
            Place(chunk_id="c", section_id="t", document_id="e", source=HOSTILE, title=HOSTILE, headings=(), page=None),
        ),
    }
)


def added(error: EmptyDocument | None) -> Added:
    status = AddStatus.FAILED if error else AddStatus.READY
    return Added(
        source=HOSTILE,
        status=status,
        document_id=None,
        chunks=0,
        sections=0,
        error=error.as_failure() if error else None,
    )


DETAILS = (
    RetrievalDetail(query=HOSTILE, mode="vector", unit="chunk", passages=(PASSAGE,)),
    RetrievalDetail(query=HOSTILE, mode="vector", unit="chunk", passages=()),
    RetrievalDetail(
        query=HOSTILE,
        mode="hybrid",
        unit="section",
        passages=(BOTH_SIDES, BOTH_SIDES.model_copy(update={"vector_rank": None, "vector_score": None})),
        words=(HOSTILE,),
        left_out=3,
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
            PassageGrade(passage=PASSAGE, grade=Grade(verdict="unknown", score=None)),
        ),
    ),
    GenerationDetail(passages=(1,), text=HOSTILE, cited=(1,)),
    RewriteDetail(before=HOSTILE, after=HOSTILE),
    RewriteDetail(before=HOSTILE, after=HOSTILE, refused=HOSTILE),
    GroundingDetail(grade=YES, claims=(Claim(text=HOSTILE, sources=(1,)), Claim(text=HOSTILE, sources=()))),
    GroundingDetail(grade=NO, claims=()),
    UsefulnessDetail(grade=YES),
    UsefulnessDetail(grade=Grade(verdict="unknown", score=None)),
    AnswerCheckDetail(grounding=YES, usefulness=NO),
    DocumentsDetail(added=(added(None), added(EmptyDocument(name=HOSTILE)))),
    ModelDetail(name=HOSTILE),
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

"""A detail of each kind that a step can report, with words in it that try to be HTML and Markdown."""

from index_store import Added, AddStatus
from index_store.errors import EmptyDocument
from rag.trace import (
    AnswerCheckDetail,
    Claim,
    DocumentsDetail,
    GenerationDetail,
    Grade,
    GradesDetail,
    GroundingDetail,
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

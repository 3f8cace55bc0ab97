"""The steps that pipelines share."""

from rag.nodes.check_answer import check_answer, check_grounding, check_usefulness
from rag.nodes.decline import decline
from rag.nodes.extract_keywords import extract_keywords
from rag.nodes.generate import generate
from rag.nodes.grade_documents import grade_documents
from rag.nodes.retrieve import retrieve
from rag.nodes.rewrite_question import rewrite_question

__all__ = [
    "check_answer",
    "check_grounding",
    "check_usefulness",
    "decline",
    "extract_keywords",
    "generate",
    "grade_documents",
    "retrieve",
    "rewrite_question",
]

"""The steps that pipelines share."""

from rag.nodes.answer_from_memory import answer_from_memory
from rag.nodes.assess import assess
from rag.nodes.check_answer import check_answer, check_grounding, check_usefulness
from rag.nodes.choose_candidate import choose_candidate
from rag.nodes.decide_retrieval import decide_retrieval
from rag.nodes.decline import decline
from rag.nodes.draft_answer import draft_answer, draft_refined, grade_and_draft, grade_and_draft_refined
from rag.nodes.extract_keywords import extract_keywords
from rag.nodes.generate import generate
from rag.nodes.grade_documents import grade_documents
from rag.nodes.keep_best_attempt import keep_best_attempt
from rag.nodes.refine import refine
from rag.nodes.retrieve import retrieve
from rag.nodes.rewrite_for_web import rewrite_for_web
from rag.nodes.rewrite_question import rewrite_question
from rag.nodes.route_question import route_question
from rag.nodes.small_talk import small_talk
from rag.nodes.web_search import web_search
from rag.nodes.write_candidates import write_candidates

__all__ = [
    "answer_from_memory",
    "assess",
    "check_answer",
    "check_grounding",
    "check_usefulness",
    "choose_candidate",
    "decide_retrieval",
    "decline",
    "draft_answer",
    "draft_refined",
    "extract_keywords",
    "generate",
    "grade_and_draft",
    "grade_and_draft_refined",
    "grade_documents",
    "keep_best_attempt",
    "refine",
    "retrieve",
    "rewrite_for_web",
    "rewrite_question",
    "route_question",
    "small_talk",
    "web_search",
    "write_candidates",
]

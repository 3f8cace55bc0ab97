"""The prompts for the embedded model of 1.5 billion parameters: short and plain, with the passages first.

It is not asked to cite, nor given leave to say 'not found': with either it answers worse
(docs/decisions/embedded-chat-model.md).
"""

from collections.abc import Sequence

from rag.grades import Prompt
from rag.language import Language
from rag.prompts.embedded_grading import SYSTEM, grounding, relevance, usefulness
from rag.prompts.fence import fenced, passages_block
from rag.trace import Passage

__all__ = ["answer", "grounding", "relevance", "rewrite", "usefulness"]

_LANGUAGE: dict[Language, str] = {"ja": "Japanese", "en": "English"}


def answer(question: str, passages: Sequence[Passage], language: Language, rejected: str | None = None) -> Prompt:
    task = f"Answer the question from the passages above in one short sentence in {_LANGUAGE[language]}."
    if rejected:
        task += f" This answer was wrong:\n{fenced('rejected', rejected)}"
    return [("system", SYSTEM), ("user", f"{passages_block(passages)}\n\n{task}\nQuestion: {question}")]


def rewrite(question: str, query: str, language: Language) -> Prompt:
    task = f"Write this question in other words, in {_LANGUAGE[language]}, on one line, and nothing else."
    return [("system", SYSTEM), ("user", f"{task}\nQuestion: {question}")]

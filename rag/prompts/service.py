"""The prompts for models behind a key, in the question's language. The wording stands in en.py and ja.py."""

from collections.abc import Sequence
from types import ModuleType

from rag.grades import GradingPrompt, Prompt
from rag.language import Language, language_of
from rag.prompts import en, ja
from rag.prompts.fence import fenced, passages_block
from rag.trace import Passage

WORDING: dict[Language, ModuleType] = {"en": en, "ja": ja}


def answer(question: str, passages: Sequence[Passage], language: Language, rejected: str | None = None) -> Prompt:
    words = WORDING[language]
    task = words.QUESTION.format(passages=passages_block(passages), question=question)
    if rejected:
        task += words.REJECTED.format(rejected=fenced("rejected", rejected))
    return [("system", words.ANSWER), ("user", task)]


def rewrite(question: str, query: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.REWRITE), ("user", words.REWRITE_CASE.format(question=question, query=query))]


def keywords(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.KEYWORDS), ("user", words.KEYWORDS_CASE.format(question=question))]


def relevance(question: str, passage: Passage) -> GradingPrompt:
    words = WORDING[language_of(question)]
    return _grading(words.RELEVANCE, words.RELEVANCE_CASE, passage=passages_block([passage]), question=question)


def grounding(question: str, answer: str, passages: Sequence[Passage]) -> GradingPrompt:
    words = WORDING[language_of(question)]
    return _grading(
        words.GROUNDING,
        words.GROUNDING_CASE,
        passages=passages_block(passages),
        question=question,
        answer=fenced("answer", answer),
    )


def usefulness(question: str, answer: str) -> GradingPrompt:
    words = WORDING[language_of(question)]
    return _grading(words.USEFULNESS, words.USEFULNESS_CASE, question=question, answer=fenced("answer", answer))


def _grading(instructions: str, case: str, **parts: str) -> GradingPrompt:
    return GradingPrompt([("system", instructions), ("user", case.format(**parts))])

"""The prompts for models behind a key, in the question's language. The wording stands in en.py and ja.py."""

from collections.abc import Sequence
from types import ModuleType

from rag.models.grades import GradingPrompt, Prompt
from rag.models.service import en, ja
from rag.runs.style import USUAL
from rag.text.fence import fenced, passages_block
from rag.text.language import Language, language_of
from rag.trace import Passage, Style, Turn

WORDING: dict[Language, ModuleType] = {"en": en, "ja": ja}


def answer(
    question: str,
    passages: Sequence[Passage],
    language: Language,
    rejected: str | None = None,
    unsupported: Sequence[str] = (),
    *,
    style: Style = USUAL,
) -> Prompt:
    """`rejected`: an answer of before, of which the claims in `unsupported` don't stand in the passages."""
    words = WORDING[language]
    task = words.QUESTION.format(passages=passages_block(passages), question=question)
    if rejected:
        task += words.REJECTED.format(rejected=fenced("rejected", rejected))
        if unsupported:
            task += words.UNSUPPORTED.format(claims=fenced("unsupported", "\n".join(unsupported)))
        task += words.AGAIN
    return [("system", words.ANSWER + _manner(words, style)), ("user", task)]


def _manner(words: ModuleType, style: Style) -> str:
    length = {"short": words.SHORT, "normal": words.NORMAL, "long": words.LONG}[style.length]
    return length + {"neutral": "", "polite": words.POLITE, "plain": words.PLAIN}[style.tone]


def memory(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.MEMORY), ("user", words.MEMORY_CASE.format(question=question))]


def rewrite(question: str, query: str, language: Language, *, dropped: str = "", not_useful: str = "") -> Prompt:
    """Why another query is needed: `dropped` lists what the last one found, `not_useful` is what its answer lacked."""
    words = WORDING[language]
    task = words.REWRITE_CASE.format(question=question, query=query)
    if dropped:
        task += words.DROPPED.format(found=fenced("found", dropped))
    if not_useful:
        task += words.NOT_USEFUL.format(reason=fenced("reason", not_useful))
    return [("system", words.REWRITE), ("user", task)]


def standalone(question: str, turns: Sequence[Turn], language: Language) -> Prompt:
    words = WORDING[language]
    said = "\n".join(fenced("turn", words.STANDALONE_TURN.format(**turn.model_dump())) for turn in turns)
    return [("system", words.STANDALONE), ("user", words.STANDALONE_CASE.format(turns=said, question=question))]


def keywords(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.KEYWORDS), ("user", words.KEYWORDS_CASE.format(question=question))]


def web_query(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.WEB_QUERY), ("user", words.WEB_QUERY_CASE.format(question=question))]


def route(question: str) -> Prompt:
    words = WORDING[language_of(question)]
    return [("system", words.ROUTE), ("user", words.ROUTE_CASE.format(question=question))]


def talk(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.TALK), ("user", question)]


def retrieval_need(question: str) -> GradingPrompt:
    """Whether documents are needed to answer it."""
    words = WORDING[language_of(question)]
    return _grading(words.RETRIEVAL_NEED, words.RETRIEVAL_NEED_CASE, question=question)


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

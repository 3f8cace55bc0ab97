"""The prompts for models of a service, in the question's language. The wording is in en.py and ja.py."""

from collections.abc import Sequence

from rag.models.calls.prompt import Prompt
from rag.models.chat_model import RejectedAnswer
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.wording import Wording
from rag.text.language import Language, language_of
from rag.text.quoting import in_tags, passages_block
from rag.trace.details import Turn
from rag.trace.events import Style
from rag.trace.passages import Citation, Passage

WORDING: dict[Language, Wording] = {"en": EN, "ja": JA}


def answer(
    question: str, passages: Sequence[Passage], language: Language, style: Style, rejected: RejectedAnswer | None = None
) -> Prompt:
    words = WORDING[language]
    task = words.question.format(passages=passages_block(passages), question=question)
    if rejected:
        task += words.rejected.format(rejected=in_tags("rejected", rejected.text))
        if rejected.unsupported:
            task += words.unsupported.format(claims=in_tags("unsupported", "\n".join(rejected.unsupported)))
        task += words.again
    return [("system", words.answer + _manner(words, style)), ("user", task)]


def _manner(words: Wording, style: Style) -> str:
    length = {"short": words.short, "normal": words.normal, "long": words.long}[style.length]
    return length + {"neutral": "", "polite": words.polite, "plain": words.plain}[style.tone]


def memory(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.memory), ("user", words.memory_case.format(question=question))]


def talk(message: str, language: Language) -> Prompt:
    return [("system", WORDING[language].talk), ("user", message)]


def rewrite(question: str, query: str, language: Language, *, dropped: str = "", not_useful: str = "") -> Prompt:
    words = WORDING[language]
    task = words.rewrite_case.format(question=question, query=query)
    if dropped:
        task += words.dropped.format(found=in_tags("found", dropped))
    if not_useful:
        task += words.not_useful.format(reason=in_tags("reason", not_useful))
    return [("system", words.rewrite), ("user", task)]


def web_query(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.web_query), ("user", words.web_query_case.format(question=question))]


def standalone(question: str, turns: Sequence[Turn], language: Language) -> Prompt:
    words = WORDING[language]
    said = "\n".join(in_tags("turn", words.standalone_turn.format(**turn.model_dump())) for turn in turns)
    return [("system", words.standalone), ("user", words.standalone_case.format(turns=said, question=question))]


def follow_ups(question: str, answer: str, sources: Sequence[Citation], language: Language) -> Prompt:
    words = WORDING[language]
    case = words.follow_ups_case.format(
        passages=passages_block(sources), question=question, answer=in_tags("answer", answer)
    )
    return [("system", words.follow_ups), ("user", case)]


def keywords(question: str, language: Language) -> Prompt:
    words = WORDING[language]
    return [("system", words.keywords), ("user", words.keywords_case.format(question=question))]


def route(question: str) -> Prompt:
    words = WORDING[language_of(question)]
    return [("system", words.route), ("user", words.route_case.format(question=question))]


def retrieval_need(question: str) -> Prompt:
    words = WORDING[language_of(question)]
    return [("system", words.retrieval_need), ("user", words.retrieval_need_case.format(question=question))]


def relevance(question: str, passage: Passage) -> Prompt:
    words = WORDING[language_of(question)]
    case = words.relevance_case.format(passage=passages_block([passage]), question=question)
    return [("system", words.relevance), ("user", case)]


def grounding(question: str, answer: str, passages: Sequence[Passage]) -> Prompt:
    words = WORDING[language_of(question)]
    case = words.grounding_case.format(
        passages=passages_block(passages), question=question, answer=in_tags("answer", answer)
    )
    return [("system", words.grounding), ("user", case)]


def usefulness(question: str, answer: str) -> Prompt:
    words = WORDING[language_of(question)]
    case = words.usefulness_case.format(question=question, answer=in_tags("answer", answer))
    return [("system", words.usefulness), ("user", case)]

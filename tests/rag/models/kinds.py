"""Both kinds of chat model over a scripted one, and all prompts that they send."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from rag.models.calls.usage import Usage
from rag.models.chat_model import Answer, ChatModel, RejectedAnswer
from rag.models.client.client import ChatClient
from rag.models.embedded.chat import EmbeddedChat
from rag.models.service.chat import ServiceChat
from rag.runs.run.options import USUAL
from rag.text.language import Language
from rag.trace.details import Turn
from rag.trace.events import Style
from rag.trace.passages import Passage
from tests.rag.scripted import ScriptedChat

KINDS = {"service": ServiceChat, "embedded": EmbeddedChat}

Messages = list[tuple[str, str]]


Asking = Callable[[ChatModel, Usage], Awaitable[object] | AsyncIterator[object]]


def asked(
    kind: type[ChatModel], *ways: Asking, chat: ScriptedChat | None = None, came: list[object] | None = None
) -> list[list[Messages]]:
    """The prompts of each of `ways`: several if a reply can't be read, or if there is one for each claim.

    The results that `kind` reads from the replies of `chat` are added to `came`.
    """
    chat, came = chat or ScriptedChat(), [] if came is None else came

    async def ask() -> list[list[Messages]]:
        found = []
        for way in ways:
            begun, asking = len(chat.messages), way(kind(ChatClient(chat, "scripted")), Usage())
            if isinstance(asking, Awaitable):
                came.append(await asking)
            else:
                came.extend([each async for each in asking])
            found.append(chat.messages[begun:])
        return found

    return asyncio.run(ask())


def prompts_over(
    kind: type[ChatModel],
    question: str,
    passages: Sequence[Passage],
    said: str,
    *,
    language: Language,
    style: Style = USUAL,
    **parts: Any,
) -> dict[str, list[Messages]]:
    """All prompts, by name. `passages`: the second one is graded. `parts`: arguments of `asked`.

    `said`: stands for every text of a model, a grader or a person that a prompt quotes.
    """
    one = passages[min(1, len(passages) - 1)]
    ways: dict[str, Asking] = {
        "answer": lambda model, usage: model.answer(question, passages, usage, language=language, style=style),
        "answer after a rejected one": lambda model, usage: model.answer(
            question, passages, usage, language=language, style=style, rejected=RejectedAnswer(said)
        ),
        "answer without its claims": lambda model, usage: model.answer(
            question, passages, usage, language=language, style=style, rejected=RejectedAnswer("Yes.", (said, said))
        ),
        "relevance": lambda model, usage: model.grade_relevance(question, one, usage),
        "grounding": lambda model, usage: model.check_grounding(question, Answer("2,500円です。"), passages, usage),
        "grounding of an answer": lambda model, usage: model.check_grounding(question, Answer(said), passages, usage),
        "usefulness of an answer": lambda model, usage: model.check_usefulness(question, Answer(said), usage),
        "rewrite": lambda model, usage: model.rewrite_question(question, question, usage, language=language),
        "rewrite of what was dropped": lambda model, usage: model.rewrite_question(
            question, question, usage, language=language, dropped=said
        ),
        "rewrite of what was not useful": lambda model, usage: model.rewrite_question(
            question, question, usage, language=language, not_useful=said
        ),
        "follow-ups": lambda model, usage: model.suggest_follow_ups(question, said, passages, usage, language=language),
        "standalone after a question": lambda model, usage: model.condense_question(
            question, [Turn(question=said, answer="Yes.")], usage, language=language
        ),
        "standalone after an answer": lambda model, usage: model.condense_question(
            question, [Turn(question="Why?", answer=said)], usage, language=language
        ),
        "memory": lambda model, usage: model.answer_from_memory(question, usage, language=language),
        "need": lambda model, usage: model.grade_retrieval_need(question, usage),
        "keywords": lambda model, usage: model.extract_keywords(question, usage, language=language),
        "web query": lambda model, usage: model.rewrite_for_web(question, usage, language=language),
        "talk": lambda model, usage: model.small_talk(question, usage, language=language),
        "route": lambda model, usage: model.route(question, usage),
    }
    return dict(zip(ways, asked(kind, *ways.values(), **parts), strict=True))

"""A chat model behind a key or a URL: it writes its own citations, and grades by JSON schema."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from langchain_core.messages import AIMessage

from index_store.base.errors import ModelUnknown, RequestRefused, ServiceFailed
from rag.errors import EmptyReply
from rag.models.calls.prompt import Prompt
from rag.models.calls.restart import Restart
from rag.models.calls.subjects import of_passage, of_passages, of_text
from rag.models.calls.usage import Usage
from rag.models.chat_model import (
    Answer,
    AnswerStream,
    ChatModel,
    Keywords,
    RejectedAnswer,
    Routing,
)
from rag.models.client.client import ChatClient
from rag.models.client.finish_reason import UNREAD, cut_by
from rag.models.context_window import ContextWindow
from rag.models.replies import (
    FollowUpsReply,
    GroundingReply,
    KeywordsReply,
    RelevanceReply,
    Reply,
    RouteReply,
    UsefulnessReply,
)
from rag.models.service import prompts
from rag.models.service.cited_text import CitedText
from rag.settings import SERVICE_ANSWER, SERVICE_CONTEXT
from rag.text.citations import without_markers
from rag.text.language import Language
from rag.text.overlap import words_in
from rag.trace.calls import CallSubject
from rag.trace.details import Turn
from rag.trace.events import Style
from rag.trace.grades import Grade, Grounding, Usefulness
from rag.trace.passages import Citation, Passage

T = TypeVar("T")
Way = Callable[[dict[str, Any]], dict[str, Any]]

WAY_REFUSED = (400, 422, 500)
"""statuses with which servers refuse a way of structured output; for some models, Ollama does so with 500"""

TRIED_AGAIN_AFTER = 600
"""seconds in which a way that was refused is not tried: the server may only have failed for a while, or be replaced"""


class ServiceChat(ChatModel):
    """A model behind a key or a URL."""

    regenerates = True

    def __init__(
        self,
        client: ChatClient,
        *,
        context: int = SERVICE_CONTEXT,
        answer: int = SERVICE_ANSWER,
        speculates: bool = True,
    ) -> None:
        """`context`: the model's context in tokens; `answer`: the most tokens of a reply."""
        self.client = client
        self.name = client.name
        self.context_window = ContextWindow.of(context, answer)
        self.speculates = speculates
        # Servers support different ways of structured output. A way that the server refuses, although it accepts
        # the same prompt in a later way, is left out for a while.
        self._left_out_until: dict[Way, float] = {}
        self._worked = set[tuple[Way, type[Reply]]]()

    def answer(
        self,
        question: str,
        passages: Sequence[Passage],
        usage: Usage,
        *,
        language: Language,
        style: Style,
        rejected: RejectedAnswer | None = None,
    ) -> AnswerStream:
        prompt = prompts.answer(question, passages, language, style, rejected)
        return self._stream(prompt, passages, usage, CallSubject("answer", of_passages(passages)), style.temperature)

    def answer_from_memory(
        self, question: str, usage: Usage, *, language: Language, temperature: float = 0
    ) -> AnswerStream:
        return self._stream(prompts.memory(question, language), [], usage, CallSubject("answer"), temperature)

    def small_talk(self, message: str, usage: Usage, *, language: Language, temperature: float = 0) -> AnswerStream:
        return self._stream(prompts.talk(message, language), [], usage, CallSubject("answer"), temperature)

    async def _stream(
        self, prompt: Prompt, passages: Sequence[Passage], usage: Usage, about: CallSubject, temperature: float
    ) -> AnswerStream:
        text, cut = CitedText(passages), None
        async for piece in self.client.stream(prompt, usage, about=about, temperature=temperature):
            if isinstance(piece, Restart):
                text, cut = CitedText(passages), None
                yield piece
            else:
                cut = cut or cut_by(piece)
                yield text.feed(piece.text)
        yield text.end()
        if not text.answer.is_no_answer and not without_markers(text.answer.text).strip():
            raise EmptyReply(model=self.name)
        yield replace(text.answer, is_cut=cut is not None, cut_by=cut or "length")

    async def rewrite_question(
        self,
        question: str,
        query: str,
        usage: Usage,
        *,
        language: Language,
        dropped: str = "",
        not_useful: str = "",
    ) -> str:
        prompt = prompts.rewrite(question, query, language, dropped=dropped, not_useful=not_useful)
        return await self.client.write(prompt, usage, about=CallSubject("query"))

    async def rewrite_for_web(self, question: str, usage: Usage, *, language: Language) -> str:
        return await self.client.write(prompts.web_query(question, language), usage, about=CallSubject("query"))

    async def condense_question(self, question: str, turns: Sequence[Turn], usage: Usage, *, language: Language) -> str:
        prompt = prompts.standalone(question, turns, language)
        return await self.client.write(prompt, usage, about=CallSubject("standalone"))

    async def suggest_follow_ups(
        self, question: str, answer: str, sources: Sequence[Citation], usage: Usage, *, language: Language
    ) -> tuple[str, ...]:
        prompt = prompts.follow_ups(question, answer, sources, language)
        return await self._read(prompt, FollowUpsReply, FollowUpsReply.read, usage, CallSubject("follow_ups")) or ()

    async def grade_relevance(self, question: str, passage: Passage, usage: Usage) -> Grade:
        prompt = prompts.relevance(question, passage)
        about = CallSubject("relevance", of_passage(passage))
        return await self._read(prompt, RelevanceReply, RelevanceReply.read, usage, about) or Grade.unknown()

    async def check_grounding(
        self, question: str, answer: Answer, passages: Sequence[Passage], usage: Usage
    ) -> Grounding:
        prompt = prompts.grounding(question, answer.text, passages)
        about = CallSubject("grounding", of_passages(passages))
        return await self._read(prompt, GroundingReply, GroundingReply.read, usage, about) or Grounding.unknown()

    async def check_usefulness(self, question: str, answer: Answer, usage: Usage) -> Usefulness:
        prompt = prompts.usefulness(question, answer.text)
        about = CallSubject("usefulness", of_text(answer.text))
        return await self._read(prompt, UsefulnessReply, UsefulnessReply.read, usage, about) or Usefulness.unknown()

    async def grade_retrieval_need(self, question: str, usage: Usage) -> Grade:
        prompt = prompts.retrieval_need(question)
        about = CallSubject("retrieval_need")
        return await self._read(prompt, RelevanceReply, RelevanceReply.read, usage, about) or Grade.unknown()

    async def route(self, question: str, usage: Usage) -> Routing:
        reply = await self._read(prompts.route(question), RouteReply, RouteReply.read, usage, CallSubject("route"))
        return Routing(reply.route, "model", reply.reason) if reply else Routing("documents", "in_doubt")

    async def extract_keywords(self, question: str, usage: Usage, *, language: Language) -> Keywords:
        prompt = prompts.keywords(question, language)
        words = await self._read(prompt, KeywordsReply, KeywordsReply.read, usage, CallSubject("keywords")) or ()
        return Keywords(words, kept=words_in(question, words))

    async def _read(
        self, prompt: Prompt, reply: type[Reply], read: Callable[[str], T | None], usage: Usage, about: CallSubject
    ) -> T | None:
        """None if no way gave a readable reply. Raises ServiceError, ModelError, RunLimit."""
        refused = list[Way]()
        for way in self._ways():
            try:
                message = await self.client.ask(prompt, usage, about=about, **way(reply.json_schema()))
            except (RequestRefused, ModelUnknown, ServiceFailed) as error:
                # A way that no provider of the model supports has the status of an unknown model at OpenRouter. Only
                # words show which of the two it is.
                is_final = not isinstance(error, ModelUnknown) and error.details["status"] not in WAY_REFUSED
                is_outage = isinstance(error, ServiceFailed) and (way, reply) in self._worked
                if way is _by_words or is_final or is_outage:
                    raise
                refused.append(way)
                continue
            # Only now: a prompt may be refused in every way, because of its content or its length.
            self._leave_out(refused)
            self._worked.add((way, reply))
            found = read(_text_of(message))
            if found is not None:
                return found
            if error_type := UNREAD.get(cut_by(message)):
                raise error_type(model=self.name)
        return None

    def _ways(self) -> list[Way]:
        now = time.monotonic()
        return [way for way in WAYS if self._left_out_until.get(way, now) <= now]

    def _leave_out(self, ways: Sequence[Way]) -> None:
        self._left_out_until |= dict.fromkeys(ways, time.monotonic() + TRIED_AGAIN_AFTER)


def _by_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _by_function_call(schema: dict[str, Any]) -> dict[str, Any]:
    function = {"name": schema["name"], "parameters": schema["schema"]}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": schema["name"]}},
    }


def _by_words(schema: dict[str, Any]) -> dict[str, Any]:
    return {}


WAYS: tuple[Way, ...] = (_by_json_schema, _by_function_call, _by_words)
"""the best first; the last one works with every server"""


def _text_of(message: AIMessage) -> str:
    return json.dumps(message.tool_calls[0]["args"]) if message.tool_calls else message.text

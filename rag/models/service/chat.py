"""A chat model behind a key or a URL: it cites by itself, and grades by JSON schema."""

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable

from rag.models.chat_model import FAULTS, ChatModel, Meter
from rag.models.context_window import Room
from rag.models.grades import (
    SUPPORT_SCHEMA,
    UNREADABLE,
    UNREADABLE_SUPPORT,
    UNREADABLE_USEFULNESS,
    USEFULNESS_SCHEMA,
    VERDICT_SCHEMA,
    GradingPrompt,
    Prompt,
    read_support,
    read_usefulness,
    read_verdict,
)
from rag.models.keywords import KEYWORDS_SCHEMA, read_keywords
from rag.models.service import prompts as service
from rag.settings import SERVICE_CONTEXT
from rag.text.routing import IN_DOUBT, ROUTE_SCHEMA, Routed, read_route
from rag.trace import Grade, Passage, Support, Usefulness

T = TypeVar("T")

ANSWER_TOKENS = 1000
"""that room is left for; nothing keeps a model behind a key from writing more"""


class ServiceChat(ChatModel):
    """A model behind a key or a URL."""

    prompts = service
    cites = True
    copies = True
    corrects = True

    def __init__(
        self,
        client: BaseChatModel,
        name: str,
        *,
        context: int = SERVICE_CONTEXT,
        base_url: str | None = None,
        retries: int = 0,
        works_ahead: bool = True,
    ) -> None:
        super().__init__(client, name, base_url=base_url, retries=retries)
        self.room = Room.of(context, ANSWER_TOKENS)
        self.works_ahead = works_ahead
        # Servers differ in which way of structured output they know: the first that works is kept.
        self._ways = [_by_json_schema, _by_function_call, _by_words]

    async def grade(self, prompt: GradingPrompt, meter: Meter) -> Grade:
        return await self._structured(prompt.messages, VERDICT_SCHEMA, read_verdict, meter) or UNREADABLE

    async def support(
        self,
        question: str,
        answer: str,
        passages: Sequence[Passage],
        meter: Meter,
        *,
        confidence: float | None = None,
    ) -> Support:
        prompt = self.prompts.grounding(question, answer, passages)
        read = await self._structured(prompt.messages, SUPPORT_SCHEMA, read_support, meter)
        return read or UNREADABLE_SUPPORT

    async def usefulness(self, question: str, answer: str, meter: Meter) -> Usefulness:
        prompt = self.prompts.usefulness(question, answer)
        read = await self._structured(prompt.messages, USEFULNESS_SCHEMA, read_usefulness, meter)
        return read or UNREADABLE_USEFULNESS

    async def keywords(self, prompt: Prompt, meter: Meter) -> tuple[str, ...]:
        return await self._structured(prompt, KEYWORDS_SCHEMA, read_keywords, meter) or ()

    async def route(self, question: str, meter: Meter) -> Routed:
        return await self._structured(self.prompts.route(question), ROUTE_SCHEMA, read_route, meter) or IN_DOUBT

    async def _structured(
        self, prompt: Prompt, schema: dict, read: Callable[[str], T | None], meter: Meter
    ) -> T | None:
        """None where nothing could be read in any way."""
        for way in tuple(self._ways):
            try:
                message = await self._ask(way(self.client, schema), prompt, meter)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if way is _by_words:
                    raise self._explained(error) from error
                self._forget(way)
                continue
            except FAULTS as error:
                raise self._explained(error) from error
            found = read(_said(message))
            if found is not None:
                return found
        return None

    def _forget(self, way) -> None:
        if way in self._ways:
            self._ways.remove(way)


def _by_json_schema(client: BaseChatModel, schema: dict) -> Runnable:
    return client.bind(response_format={"type": "json_schema", "json_schema": schema})


def _by_function_call(client: BaseChatModel, schema: dict) -> Runnable:
    function = {"name": schema["name"], "parameters": schema["schema"]}
    return client.bind(
        tools=[{"type": "function", "function": function}],
        tool_choice={"type": "function", "function": {"name": schema["name"]}},
    )


def _by_words(client: BaseChatModel, schema: dict) -> Runnable:
    return client


def _said(message: AIMessage) -> str:
    return json.dumps(message.tool_calls[0]["args"]) if message.tool_calls else message.text

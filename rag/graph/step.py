"""A node of a graph as a step of the trace: timed, its model calls counted, its detail reported.

`@step` makes a LangGraph node of `async def name(state, step) -> changes`; `@choice` makes the router behind a node of
`def after_name(state, limits) -> Choice`. Both report to the run's Recorder and not through LangGraph's streams, which
drop what a cancelled node still has to say; and only `Step.token` adds to the answer, so no grader's word can leak in.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from langgraph.runtime import Runtime

from index_store.base.errors import Failure, PlainError
from index_store.store import IndexStore
from rag.errors import Unexpected
from rag.graph.state import State
from rag.models.budget import Budget
from rag.models.chat_model import ChatModel, Meter
from rag.text.language import Language
from rag.trace import Decision, Detail, Event, Retrieval, StepFinished, StepStarted, Style, Token
from rag.web import WebSearch

T = TypeVar("T")
Verdict = Literal["yes", "no", "unknown", "stopped", "failed"]


@dataclass(frozen=True)
class Recorder:
    """Where the events of one run go, and its clock."""

    emit: Callable[[Event], None]
    clock: Callable[[], float]
    """seconds since the run began"""
    budget: Budget
    attempts: Counter[str] = field(default_factory=Counter)
    """how often each step has begun"""


@dataclass(frozen=True)
class Limits:
    """How often a run's loops may turn."""

    rewrites: int
    generations: int
    web: bool = False
    """whether there is a web search"""
    corrects: bool = True
    """whether the model is asked again for an answer that was not borne out"""


@dataclass(frozen=True)
class Assessing:
    """When what was found is good enough; see rag/nodes/assess.py."""

    rule: Literal["scores", "any"] = "scores"
    lower: float = 0.4
    upper: float = 0.7


@dataclass(frozen=True)
class Tools:
    """What a run gives its nodes: LangGraph's context."""

    model: ChatModel
    store: IndexStore
    index: str
    retrieval: Retrieval
    limits: Limits
    language: Language
    """of the question as it was asked, and so of the answer"""
    style: Style
    recorder: Recorder
    web: WebSearch | None = None
    assessing: Assessing = Assessing()


class Step:
    """One execution of a node, from its `step_started` to its `step_finished`."""

    def __init__(self, name: str, recorder: Recorder) -> None:
        recorder.attempts[name] += 1
        self.name = name
        self.attempt = recorder.attempts[name]
        self._recorder = recorder
        self.meter = Meter(recorder.budget)
        self.detail: Detail | None = None
        self.verdict: Verdict | None = None
        self.fallback: Failure | None = None
        """what failed, where this step goes on without it"""

    def token(self, text: str, *, restart: bool = False) -> None:
        """A piece of the answer, to be shown at once."""
        self._recorder.emit(Token(step=self.name, attempt=self.attempt, text=text, restart=restart))

    async def run(self, work: Awaitable[T]) -> T:
        start = self._recorder.clock()
        self._recorder.emit(StepStarted(step=self.name, attempt=self.attempt, start=start))
        error: Failure | None = None
        try:
            return await work
        except asyncio.CancelledError:
            self.verdict = "stopped"
            raise
        except PlainError as raised:
            self.verdict, error = "failed", raised.as_failure()
            raise
        except Exception as raised:  # a fault of ours still ends its row in the trace; the engine logs it
            self.verdict, error = "failed", Unexpected(kind=type(raised).__name__).as_failure()
            raise
        finally:
            self._recorder.emit(
                StepFinished(
                    step=self.name,
                    attempt=self.attempt,
                    start=start,
                    milliseconds=(self._recorder.clock() - start) * 1000,
                    model_calls=self.meter.calls,
                    tokens_in=self.meter.tokens_in,
                    tokens_out=self.meter.tokens_out,
                    verdict=self.verdict,
                    detail=self.detail,
                    error=error,
                    fallback=self.fallback,
                )
            )


class NodeStep(Step):
    """A step with what the run gives to its nodes."""

    def __init__(self, name: str, tools: Tools) -> None:
        super().__init__(name, tools.recorder)
        self.tools = tools
        self.model = tools.model


Node = Callable[[State, Runtime[Tools]], Coroutine[Any, Any, State]]


def step(work: Callable[[State, NodeStep], Awaitable[State]]) -> Node:
    async def node(state: State, runtime: Runtime[Tools]) -> State:
        this = NodeStep(work.__name__, runtime.context)
        return await this.run(work(state, this))

    node.__name__ = work.__name__
    node.__doc__ = work.__doc__
    return node


class Choice(NamedTuple):
    to: str
    why: str
    """a key that readers of the trace have words for"""


def choice(decide: Callable[[State, Limits], Choice]) -> Callable[[State, Runtime[Tools]], str]:
    origin = decide.__name__.removeprefix("after_")

    def router(state: State, runtime: Runtime[Tools]) -> str:
        chosen = decide(state, runtime.context.limits)
        runtime.context.recorder.emit(Decision(from_step=origin, to=chosen.to, why=chosen.why))
        return chosen.to

    router.__name__ = decide.__name__
    return router

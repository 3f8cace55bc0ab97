"""Makes a node a step of the trace: measures its time, counts its model calls, reports its detail.

`@step` turns `async def name(state, step) -> changes` into a LangGraph node; `@router` turns `def after_name(state,
limits) -> Choice` into the router after a node. Both report to the run's Recorder. LangGraph's streams would lose the
last events of a cancelled node. Only `Step.token` adds to the answer, so a grader's text can't get into it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, Protocol, TypeVar, cast, overload

from langgraph.runtime import Runtime

from index_store.base.errors import Failure, PlainError
from rag.errors import PASSING, Unexpected
from rag.graph.context import GraphLimits, Recorder, RunContext, StepOutcome
from rag.graph.state import State
from rag.models.calls.prompt import MessageRole
from rag.models.calls.usage import Usage
from rag.trace.details import Detail
from rag.trace.events import Decision, Role, StepFinished, StepStarted, StepVerdict, Token
from rag.trace.grades import Grade

T = TypeVar("T")
G = TypeVar("G", bound=Grade)


class Step:
    """One execution of a step, from its `step_started` to its `step_finished`."""

    def __init__(self, name: str, recorder: Recorder, role: Role | None = None) -> None:
        recorder.attempts[name] += 1
        self.name = name
        self.role = role
        self.attempt = recorder.attempts[name]
        self._recorder = recorder
        self.usage = Usage(recorder.budget, record=[] if recorder.keep_calls else None)
        self.detail: Detail | None = None
        self.verdict: StepVerdict | None = None
        self.fallback: Failure | None = None
        """the error that this step continues without"""
        self.prompt_by_hand = False

    def token(self, text: str, *, restart: bool = False) -> None:
        """Emits a piece of the answer, which is shown at once."""
        self._recorder.emit(Token(step=self.name, attempt=self.attempt, text=text, restart=restart))

    async def seen(self) -> None:
        """Waits until readers see that the step has begun. Called before the model is asked."""
        await self._recorder.saved()

    def reuse(self, outcome: StepOutcome) -> State:
        """Emits the step's events from `outcome` and returns its changes, without running it."""
        finished = outcome.finished
        self._recorder.emit(StepStarted(step=self.name, attempt=self.attempt, start=finished.start))
        self._recorder.emit(finished)
        return outcome.changes

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
        except Exception as raised:  # our own bug still ends the row in the trace; the engine logs it
            self.verdict, error = "failed", Unexpected(kind=type(raised).__name__).as_failure()
            raise
        finally:
            if self._recorder.keep_calls and self.usage.record:
                calls = sorted(self.usage.record, key=lambda call: call.number)
                self._recorder.keep_calls(self.name, self.attempt, calls)
            self._recorder.emit(
                StepFinished(
                    step=self.name,
                    role=self.role,
                    attempt=self.attempt,
                    start=start,
                    milliseconds=(self._recorder.clock() - start) * 1000,
                    model_calls=self.usage.calls,
                    tokens_in=self.usage.tokens_in,
                    tokens_out=self.usage.tokens_out,
                    verdict=self.verdict,
                    detail=self.detail,
                    error=error,
                    fallback=self.fallback,
                    prompt_by_hand=self.prompt_by_hand,
                )
            )


class NodeStep(Step):
    """A step of a graph, with the run's context for nodes."""

    def __init__(self, name: str, context: RunContext, role: Role | None = None) -> None:
        super().__init__(name, context.recorder, role)
        self.context = context
        self.model = context.model

    async def do(self, work: "Work", state: State) -> State:
        """The changes of `work`, which is called when readers see that the step has begun."""
        await self.seen()
        return await work(state, self)


async def or_unknown(asking: Awaitable[G], unknown: G) -> tuple[G, Failure | None]:
    """The grade. If the grader fails in a way that may pass: `unknown` and the error."""
    try:
        return await asking, None
    except PASSING as error:
        return unknown, error.as_failure()


Work = Callable[[State, NodeStep], Coroutine[Any, Any, State]]


class Node(Protocol):
    """A node in the form that LangGraph calls."""

    __name__: str

    def __call__(self, state: State, *, runtime: Runtime[RunContext]) -> Coroutine[Any, Any, State]: ...


ROLES: dict[str, Role] = {}
"""roles by step name, for nodes that have one"""


@overload
def step(work: Work) -> Node: ...
@overload
def step(*, role: Role) -> Callable[[Work], Node]: ...
def step(work: Work | None = None, *, role: Role | None = None) -> Node | Callable[[Work], Node]:
    """Makes a node. `role`: what the step does for the answer, for readers of the trace."""

    def make(work: Work) -> Node:
        if role:
            ROLES[work.__name__] = role

        async def node(state: State, *, runtime: Runtime[RunContext]) -> State:
            this = NodeStep(work.__name__, runtime.context, role)
            override = runtime.context.overrides.get((this.name, this.attempt))
            if override is None:
                return await this.run(this.do(work, state))
            if override.outcome:
                return this.reuse(override.outcome)
            this.prompt_by_hand = bool(override.prompt)
            # A fork changes the text of a message, but not its role.
            this.usage.prompt = [(cast(MessageRole, each.role), each.text) for each in override.prompt]
            return {**override.given, **await this.run(this.do(work, {**state, **override.given}))}

        node.__name__ = work.__name__
        node.__doc__ = work.__doc__
        return node

    return make(work) if work else make


class Choice(NamedTuple):
    to: str
    why: str
    """a key for the reason; pages have a text for it"""


def router(
    decide: Callable[[State, GraphLimits], Choice | None],
) -> Callable[[State, Runtime[RunContext]], str | list[str]]:
    """`decide`: named after_<node>; None if there is nothing to decide, because another edge of the node is taken.
    Raises ValueError for another name, under which no drawing would find the router.
    """
    before, _, origin = decide.__name__.partition("after_")
    if before or not origin:
        raise ValueError(f"{decide.__name__} is not named after_<node>")

    def route(state: State, runtime: Runtime[RunContext]) -> str | list[str]:
        chosen = decide(state, runtime.context.limits)
        if chosen is None:
            return []
        runtime.context.recorder.emit(Decision(from_step=origin, to=chosen.to, why=chosen.why))
        return chosen.to

    route.__name__ = decide.__name__
    return route

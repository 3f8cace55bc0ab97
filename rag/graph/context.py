"""The context of a run in its graph: LangGraph's context, the same for every node."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Literal

from index_store.store.user_store import UserStore
from rag.graph.state import State
from rag.models.calls.budget import Budget
from rag.models.chat_model import ChatModel
from rag.text.language import Language
from rag.trace.calls import Call, Message
from rag.trace.events import Event, StepFinished, Style
from rag.trace.passages import Retrieval
from rag.web import WebSearch

KeepCalls = Callable[[str, int, Sequence[Call]], None]
"""takes the calls of a finished step: its name, its attempt, and its calls in the order in which they began"""


@dataclass(frozen=True)
class Recorder:
    """Receives the events of one run, and has its clock."""

    emit: Callable[[Event], None]
    """returns at once; readers see the event when it is saved"""
    saved: Callable[[], Awaitable[None]]
    """waits until the events so far are saved; raises what a save has raised"""
    clock: Callable[[], float]
    """gives the seconds since the run began"""
    budget: Budget
    attempts: Counter[str] = field(default_factory=Counter)
    """how often each step has begun"""
    keep_calls: KeepCalls | None = None
    """stores prompts and replies; None: they are not kept"""


@dataclass(frozen=True)
class GraphLimits:
    """The limits of a run's graph."""

    rewrites: int
    generations: int
    web: bool
    """a web search is set up"""
    regenerates: bool
    """an answer that is not grounded is written again"""
    speculates: bool
    """speculative answers are written"""


@dataclass(frozen=True)
class Assessment:
    """The grades from which retrieval counts as good enough (CRAG, arXiv 2401.15884); see `assess` in
    rag/nodes/grade_documents.py."""

    rule: Literal["scores", "any"]
    lower: float
    upper: float


@dataclass(frozen=True)
class StepOutcome:
    """The outcome of a step; the step then need not run."""

    finished: StepFinished
    changes: State
    """as the node would return them"""


@dataclass(frozen=True)
class Override:
    """The changes of a fork to one step."""

    given: State = field(default_factory=State)
    """values that replace the state's, for the step and later steps"""
    prompt: tuple[Message, ...] = ()
    """replaces the messages of its first call, word for word"""
    outcome: StepOutcome | None = None
    """replaces the whole step"""


@dataclass(frozen=True)
class RunContext:
    model: ChatModel
    store: UserStore
    """the facade of the person who asks"""
    index: str
    """its name when the question was asked"""
    present_index: Callable[[], str]
    """gives its present name, for a search; raises IndexGone if there is no such index that the person may read"""
    retrieval: Retrieval
    limits: GraphLimits
    language: Language
    """of the original question, and so of the answer"""
    style: Style
    recorder: Recorder
    search_threads: Executor
    """threads for searches only, so that other work does not delay them"""
    web: WebSearch | None
    assessment: Assessment
    overrides: Mapping[tuple[str, int], Override]
    """by step and attempt"""

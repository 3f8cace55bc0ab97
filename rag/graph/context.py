"""The context of a run in its graph: LangGraph's context, the same for every node."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Literal

from index_store.user_store.user_store import UserStore
from rag.graph.state import State
from rag.models.chat_model import ChatModel
from rag.models.usage import Budget
from rag.text.language import Language
from rag.trace.calls import Call, Message
from rag.trace.events import Event, StepFinished, Style
from rag.trace.passages import Retrieval
from rag.web import WebSearch

KeepCalls = Callable[[str, int, Sequence[Call]], None]
"""takes those of a step that is over: its name, which attempt it was, and its calls in the order in which they began"""


@dataclass(frozen=True)
class Recorder:
    """Receives the events of one run, and has its clock."""

    emit: Callable[[Event], None]
    clock: Callable[[], float]
    """seconds since the run began"""
    budget: Budget
    attempts: Counter[str] = field(default_factory=Counter)
    """how often each step has begun"""
    keep_calls: KeepCalls | None = None
    """where prompts and replies go; None: they are not kept"""


@dataclass(frozen=True)
class GraphLimits:
    """The limits of a run's graph."""

    rewrites: int
    generations: int
    web: bool = False
    """there is a web search"""
    regenerates: bool = True
    """an answer that is not grounded is asked for again"""
    speculates: bool = False
    """an answer is begun while its passages are graded"""


@dataclass(frozen=True)
class Assessment:
    """The grades from which retrieval counts as good enough (CRAG, arXiv 2401.15884); see `assess` in
    rag/nodes/grade_documents.py."""

    rule: Literal["scores", "any"] = "scores"
    lower: float = 0.4
    upper: float = 0.7


@dataclass(frozen=True)
class Outcome:
    """The outcome of a step, which then need not run."""

    finished: StepFinished
    changes: State
    """as the node would return them"""


@dataclass(frozen=True)
class Override:
    """What a fork changes of one step."""

    given: State = field(default_factory=State)
    """to the step, and to those after it, in place of what the state has"""
    prompt: tuple[Message, ...] = ()
    """what its first call asks in place of the step's own messages, word for word"""
    outcome: Outcome | None = None
    """in place of the step"""


@dataclass(frozen=True)
class RunContext:
    model: ChatModel
    store: UserStore
    """the facade of who asks"""
    index: str
    retrieval: Retrieval
    limits: GraphLimits
    language: Language
    """of the question as it was asked, and so of the answer"""
    style: Style
    recorder: Recorder
    search_threads: Executor
    """where searches take their turns: other work in threads does not make them wait"""
    web: WebSearch | None = None
    assessment: Assessment = Assessment()
    overrides: Mapping[tuple[str, int], Override] = field(default_factory=dict)
    """by step and attempt"""

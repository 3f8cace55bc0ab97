"""Conversations, their runs and people's feedback, in SQL, saved as they happen.

Not here: runs in flight, which the engine holds, and the tokens of an answer, which its `run_finished` holds whole.
"""

import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel
from sqlalchemy import (
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    func,
    or_,
    select,
)

from index_store.base.database import open_database
from rag.errors import Interrupted
from rag.runs.summary import summarize_run
from rag.text.citations import MARKER
from rag.trace.details import StandaloneDetail, Turn
from rag.trace.events import Event, RunFinished, RunStarted, StepFinished, StepStarted, Token, from_json, to_json

TITLE_LENGTH = 60
"""characters of the first question"""

MOST_TURNS = 3
"""that a follow-up is read against: what it leans on is mostly in the last one, and the embedded model reads slowly"""

LONGEST_SAID = 300
"""characters of a question or an answer of them"""

_metadata = MetaData()

_conversations = Table(
    "conversations",
    _metadata,
    Column("id", String, primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False, index=True),
)

_runs = Table(
    "runs",
    _metadata,
    Column("id", String, primary_key=True),
    Column("conversation_id", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("question", Text, nullable=False),
    Column("index_name", String, nullable=False),
    Column("pipeline", String, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("status", String, nullable=False),
    Column("feedback", Integer),
)

_events = Table(
    "events",
    _metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("event", Text, nullable=False),
)


class Conversation(BaseModel, frozen=True):
    id: str
    title: str
    updated_at: float
    """seconds since the epoch"""


class PastRun(BaseModel, frozen=True):
    id: str
    conversation_id: str
    question: str
    index: str
    pipeline: str
    started_at: float
    """seconds since the epoch"""
    status: Literal["running", "finished", "stopped", "failed", "limited"]
    feedback: Literal[-1, 1] | None
    """thumb down, thumb up"""


class Outline(NamedTuple):
    """A run without what its steps did."""

    run: PastRun
    events: tuple[Event, ...]
    """all but the tokens and the finished steps; of these only those that wrote an answer"""


class History:
    """Safe from any thread."""

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self._database = open_database(data_dir / "history.sqlite3")
        _metadata.create_all(self._database)

    def close(self) -> None:
        self._database.dispose()

    def close_interrupted_runs(self) -> None:
        """Ends the runs that a process left running when it died. For the one process that owns the data folder."""
        for run in self._select_runs(_runs.c.status == "running"):
            events = self.events(run.id)
            seconds = max((_end(each) for each in events), default=0)
            self.save(run.id, summarize_run(events, "failed", Interrupted(), seconds))

    def new_conversation(self, question: str) -> Conversation:
        now = time.time()
        title = " ".join(question.split())
        row = Conversation(
            id=uuid.uuid4().hex,
            title=title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…",
            updated_at=now,
        )
        with self._database.begin() as connection:
            connection.execute(_conversations.insert().values(created_at=now, **row.model_dump()))
        return row

    def conversations(self, words: str = "", *, latest: int | None = None) -> list[Conversation]:
        """The latest first. `words`: only those in whose questions all of them stand, in any order and case; `latest`:
        only that many.
        """
        rows = select(_conversations.c.id, _conversations.c.title, _conversations.c.updated_at)
        in_order = rows.where(*_asked_with(words)).order_by(_conversations.c.updated_at.desc()).limit(latest)
        with self._database.connect() as connection:
            return [Conversation(**row) for row in connection.execute(in_order).mappings()]

    def count_conversations(self, words: str = "") -> int:
        """`words`: as above."""
        count = select(func.count()).select_from(_conversations).where(*_asked_with(words))
        with self._database.connect() as connection:
            return connection.execute(count).scalar_one()

    def conversation(self, conversation_id: str) -> Conversation | None:
        rows = select(_conversations.c.id, _conversations.c.title, _conversations.c.updated_at)
        with self._database.connect() as connection:
            found = connection.execute(rows.where(_conversations.c.id == conversation_id)).mappings().first()
            return Conversation(**found) if found else None

    def conversation_exists(self, conversation_id: str) -> bool:
        return self.conversation(conversation_id) is not None

    def delete_conversation(self, conversation_id: str) -> None:
        """With its runs."""
        with self._database.begin() as connection:
            connection.execute(_conversations.delete().where(_conversations.c.id == conversation_id))

    def runs(self, conversation_id: str | None = None) -> list[PastRun]:
        """Of one conversation or of all, the earliest first."""
        if conversation_id is None:
            return self._select_runs()
        return self._select_runs(_runs.c.conversation_id == conversation_id)

    def count_runs(self, conversation_id: str) -> int:
        with self._database.connect() as connection:
            count = select(func.count()).where(_runs.c.conversation_id == conversation_id)
            return connection.execute(count).scalar_one()

    def outlines(self, conversation_id: str, latest: int) -> list[Outline]:
        """Of the last `latest` runs of a conversation, the earliest first. What passages and grades fill stays unread,
        however long the conversation is.
        """
        runs = self._select_runs(_runs.c.conversation_id == conversation_id, latest=latest)
        # An event's JSON begins with its kind, and quotes within its texts are escaped.
        event = _events.c.event
        is_short = ~event.startswith('{"kind":"step_finished"')
        writes = [event.contains(f'"detail":{{"type":"{kind}"') for kind in ("generation", "decline")]
        rows = (
            select(_events.c.run_id, event)
            .where(_events.c.run_id.in_([run.id for run in runs]), or_(is_short, *writes))
            .order_by(_events.c.position)
        )
        found: dict[str, list[Event]] = {run.id: [] for run in runs}
        with self._database.connect() as connection:
            for run_id, text in connection.execute(rows):
                found[run_id].append(from_json(text))
        return [Outline(run, tuple(found[run.id])) for run in runs]

    def turns(self, conversation_id: str, *, before: str) -> tuple[Turn, ...]:
        """The last things that were asked and answered, each question once, the earliest first, for the question
        `before` which they stand; follow-ups as they were understood. Long ones are shortened.
        """
        said: dict[str, Turn] = {}
        for run in reversed(
            self._select_runs(_runs.c.conversation_id == conversation_id, _runs.c.status == "finished")
        ):
            if run.question != before and run.question not in said and (turn := _turn(self.events(run.id))):
                said[run.question] = turn
            if len(said) == MOST_TURNS:
                break
        return tuple(reversed(said.values()))

    def run(self, run_id: str) -> PastRun | None:
        return next(iter(self._select_runs(_runs.c.id == run_id)), None)

    def events(self, run_id: str) -> list[Event]:
        """All of the run but its tokens."""
        rows = select(_events.c.event).where(_events.c.run_id == run_id).order_by(_events.c.position)
        with self._database.connect() as connection:
            return [from_json(text) for text in connection.execute(rows).scalars()]

    def save(self, run_id: str, event: Event) -> None:
        """Adds an event to its run: the first makes the run, the last one closes it."""
        if isinstance(event, Token):
            return
        with self._database.begin() as connection:
            if isinstance(event, RunStarted):
                connection.execute(
                    _runs.insert().values(
                        id=run_id,
                        conversation_id=event.conversation_id,
                        question=event.question,
                        index_name=event.index,
                        pipeline=event.pipeline,
                        started_at=event.at,
                        status="running",
                    )
                )
                connection.execute(
                    _conversations.update()
                    .where(_conversations.c.id == event.conversation_id)
                    .values(updated_at=event.at)
                )
            if isinstance(event, RunFinished):
                connection.execute(_runs.update().where(_runs.c.id == run_id).values(status=event.status))
            position = select(func.count()).where(_events.c.run_id == run_id).scalar_subquery()
            connection.execute(_events.insert().values(run_id=run_id, position=position, event=to_json(event)))

    def rate(self, run_id: str, feedback: Literal[-1, 1] | None) -> None:
        with self._database.begin() as connection:
            connection.execute(_runs.update().where(_runs.c.id == run_id).values(feedback=feedback))

    def _select_runs(self, *conditions: ColumnElement[bool], latest: int | None = None) -> list[PastRun]:
        """The earliest first; `latest`: only that many, the last ones."""
        rows = select(*_runs.c, _runs.c.index_name.label("index")).where(*conditions)
        with self._database.connect() as connection:
            found = connection.execute(rows.order_by(_runs.c.started_at.desc()).limit(latest)).mappings().all()
        return [PastRun.model_validate(dict(row)) for row in reversed(found)]


def _asked_with(words: str) -> list[ColumnElement[bool]]:
    """Conditions on conversations. The title is the first question, of which there may be no run yet."""
    return [
        or_(
            _conversations.c.title.icontains(word, autoescape=True),
            _conversations.c.id.in_(
                select(_runs.c.conversation_id).where(_runs.c.question.icontains(word, autoescape=True))
            ),
        )
        for word in words.split()
    ]


def _turn(events: Sequence[Event]) -> Turn | None:
    """None where there is no answer."""
    question, answer = "", ""
    for each in events:
        match each:
            case RunStarted():
                question = each.question
            case StepFinished(detail=StandaloneDetail(after=whole)):
                question = whole
            case RunFinished():
                answer = MARKER.sub("", each.answer).strip()
    return Turn(question=_shortened(question), answer=_shortened(answer)) if answer else None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SAID else text[: LONGEST_SAID - 1] + "…"


def _end(event: Event) -> float:
    """Seconds since its run began by which it is known to have gone on."""
    match event:
        case StepStarted():
            return event.start
        case StepFinished():
            return event.start + event.milliseconds / 1000
    return 0

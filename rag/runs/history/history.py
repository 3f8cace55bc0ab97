"""Conversations, their runs with what the chat model was asked, and people's feedback, in SQL, saved as they happen.

Not here: runs in flight, which the engine holds, and the tokens of an answer, which its `run_finished` holds whole.
"""

import os
import threading
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, func, literal, or_, select
from sqlalchemy import Engine as Database
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.base.batches import batches
from index_store.base.database import VARIABLES, refuse_newer
from index_store.base.errors import DataFolderUnusable
from index_store.base.folders import make_private
from rag.errors import Interrupted
from rag.runs.history import schema
from rag.runs.history.branches import Branch, Branches
from rag.runs.summary import summarize_run
from rag.text.citations import MARKER
from rag.trace.calls import MOST_OF_A_RUN, Call, pack, unpack, within_limits
from rag.trace.cause import Cause, cause_of
from rag.trace.details import StandaloneDetail, Turn
from rag.trace.events import (
    Event,
    Outcome,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Token,
    from_json,
    to_json,
)
from rag.trace.removal import numbers_of, without_documents

TITLE_LENGTH = 60
"""characters of the first question"""

MOST_TURNS = 3
"""that a follow-up is read against: what it leans on is mostly in the last one, and the embedded model reads slowly"""

LONGEST_REASON = 500
"""characters beside a thumb"""

LONGEST_SAID = 300
"""characters of a question or an answer of them"""


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
    # What it came to; None while it runs, and of what can't be said.
    seconds: float | None = None
    tokens: int | None = None
    """read and written"""
    model_calls: int | None = None
    outcome: Outcome | None = None
    cause: Cause | None = None
    """why there is no good answer, by its trace"""
    cause_by_person: Cause | None = None

    @property
    def why(self) -> Cause | None:
        """Why there is no good answer: as a person said, else by the trace. A thumb down says that an answer was none,
        which the trace can't know.
        """
        if self.cause_by_person:
            return self.cause_by_person
        return "misread" if self.cause == "none" and self.feedback == -1 else self.cause

    feedback_reason: str | None = None
    follows: str | None = None
    """the run before it in its branch; None for the first"""


class Outline(NamedTuple):
    """A run without what its steps did."""

    run: PastRun
    events: tuple[Event, ...]
    """all but the tokens and the finished steps; of these only those that wrote an answer"""


class History:
    """Safe from any thread. What it can't save raises NotSaved."""

    def __init__(self, data_dir: Path) -> None:
        """Raises DataFolderNewer, DataFolderUnusable. A file that is damaged is set aside, and an empty one made."""
        try:
            make_private(data_dir)
            self._database, self.set_aside = schema.open_history(data_dir)  # the file that is set aside, if any
        except (OSError, OperationalError) as error:
            raise DataFolderUnusable(folder=os.path.abspath(data_dir)) from error  # noqa: PTH100 - as it was given
        self._removed: set[str] = set()
        """documents that were removed since it was opened: runs that have read them may go on"""
        self._saving = threading.Lock()
        self._branches = Branches(self._database)

    @staticmethod
    def refuse_newer(data_dir: Path) -> None:
        """Before anything in the folder is changed. Raises DataFolderNewer."""
        with suppress(DatabaseError):  # told, or set aside, when it is opened
            refuse_newer(data_dir / schema.FILE, schema.SCHEMA)

    @property
    def database(self) -> Database:
        """For the queries of other subjects, which stand beside this one."""
        return self._database

    def close(self) -> None:
        self._database.dispose()

    def close_interrupted_runs(self) -> None:
        """Ends the runs that a process left running when it died. For the one process that owns the data folder."""
        for run in self._select_runs(schema.runs.c.status == "running"):
            events = self.events(run.id)
            seconds = max((_end(each) for each in events), default=0)
            self.save(run.id, summarize_run(events, "failed", Interrupted(), seconds))

    def new_conversation(
        self, question: str, kind: Literal["chat", "comparison", "fork"] = "chat", *, origin_run_id: str | None = None
    ) -> Conversation:
        """`origin_run_id`: of a fork, which goes when that run does."""
        now = time.time()
        row = Conversation(id=uuid.uuid4().hex, title=_title(question), updated_at=now)
        with self._changing() as connection:
            connection.execute(
                schema.conversations.insert().values(
                    created_at=now, kind=kind, origin_run_id=origin_run_id, **row.model_dump()
                )
            )
        return row

    def conversations(self, words: str = "", *, latest: int | None = None) -> list[Conversation]:
        """Of the chat, the latest first. `words`: only those in whose questions all of them stand, in any order and
        case; `latest`: only that many.
        """
        rows = select(schema.conversations.c.id, schema.conversations.c.title, schema.conversations.c.updated_at)
        in_order = rows.where(*_asked_with(words)).order_by(schema.conversations.c.updated_at.desc()).limit(latest)
        with self._database.connect() as connection:
            return [Conversation(**row) for row in connection.execute(in_order).mappings()]

    def count_conversations(self, words: str = "") -> int:
        """`words`: as above."""
        count = select(func.count()).select_from(schema.conversations).where(*_asked_with(words))
        with self._database.connect() as connection:
            return connection.execute(count).scalar_one()

    def conversation(self, conversation_id: str) -> Conversation | None:
        rows = select(schema.conversations.c.id, schema.conversations.c.title, schema.conversations.c.updated_at)
        with self._database.connect() as connection:
            found = connection.execute(rows.where(schema.conversations.c.id == conversation_id)).mappings().first()
            return Conversation(**found) if found else None

    def conversation_exists(self, conversation_id: str) -> bool:
        return self.conversation(conversation_id) is not None

    def list_in_chat(self, conversation_id: str) -> None:
        """That of a fork or a comparison, once it is gone on with: it no longer goes when its origin does."""
        this = (schema.conversations.c.id == conversation_id, ~_IS_CHAT)
        with self._changing() as connection:
            connection.execute(schema.conversations.update().where(*this).values(kind="chat", origin_run_id=None))

    def rename_conversation(self, conversation_id: str, title: str) -> None:
        """It keeps its place in the list, and its title where the new one is blank."""
        if title.strip():
            this = schema.conversations.c.id == conversation_id
            with self._changing() as connection:
                connection.execute(schema.conversations.update().where(this).values(title=_title(title)))

    def delete_conversation(self, conversation_id: str) -> None:
        """With its runs."""
        with self._changing() as connection:
            connection.execute(schema.conversations.delete().where(schema.conversations.c.id == conversation_id))

    def runs(self, conversation_id: str | None = None) -> list[PastRun]:
        """Of one conversation or of all, the earliest first."""
        if conversation_id is None:
            return self._select_runs()
        return self._select_runs(schema.runs.c.conversation_id == conversation_id)

    def branch(self, conversation_id: str, *, through: str | None = None) -> Branch:
        """As `Branches.branch`."""
        return self._branches.branch(conversation_id, through=through)

    def outlines(self, conversation_id: str, latest: int, *, branch: Branch | None = None) -> list[Outline]:
        """Of the last `latest` runs of a branch, the latest one unless another is given, the earliest first. What
        passages and grades fill stays unread, however long the conversation is.
        """
        branch = branch or self.branch(conversation_id)
        return self.outlines_of(self._select_runs(schema.runs.c.id.in_(branch.runs[-latest:])))

    def outlines_of(self, runs: Sequence[PastRun]) -> list[Outline]:
        # An event's JSON begins with its kind, and quotes within its texts are escaped.
        event = schema.events.c.event
        is_short = ~event.startswith('{"kind":"step_finished"')
        writes = [event.contains(f'"detail":{{"type":"{kind}"') for kind in ("generation", "decline")]
        rows = (
            select(schema.events.c.run_id, event)
            .where(schema.events.c.run_id.in_([run.id for run in runs]), or_(is_short, *writes))
            .order_by(schema.events.c.position)
        )
        found: dict[str, list[Event]] = {run.id: [] for run in runs}
        with self._database.connect() as connection:
            for run_id, text in connection.execute(rows):
                found[run_id].append(from_json(text))
        return [Outline(run, tuple(found[run.id])) for run in runs]

    def turns(self, conversation_id: str, *, before: str, branch: Branch | None = None) -> tuple[Turn, ...]:
        """The last things that were asked and answered in a branch, the latest one unless another is given, each
        question once, the earliest first, for the question `before` which they stand; follow-ups as they were
        understood. Long ones are shortened.
        """
        branch = branch or self.branch(conversation_id)
        said: dict[str, Turn] = {}
        for run in reversed(self._select_runs(schema.runs.c.id.in_(branch.runs), schema.runs.c.status == "finished")):
            if run.question != before and run.question not in said and (turn := _turn(self.events(run.id))):
                said[run.question] = turn
            if len(said) == MOST_TURNS:
                break
        return tuple(reversed(said.values()))

    def run(self, run_id: str) -> PastRun | None:
        return next(iter(self._select_runs(schema.runs.c.id == run_id)), None)

    def events(self, run_id: str) -> list[Event]:
        """All of the run but its tokens."""
        rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id).order_by(schema.events.c.position)
        with self._database.connect() as connection:
            return [from_json(text) for text in connection.execute(rows).scalars()]

    def save(self, run_id: str, event: Event) -> None:
        """Adds an event to its run: the first makes the run, the last one closes it."""
        if isinstance(event, Token):
            return
        with self._saving, self._changing() as connection:
            if isinstance(event, RunStarted):
                of_it = schema.runs.c.conversation_id == event.conversation_id
                latest = select(schema.runs.c.id).where(of_it).order_by(schema.runs.c.started_at.desc()).limit(1)
                connection.execute(
                    schema.runs.insert().values(
                        id=run_id,
                        conversation_id=event.conversation_id,
                        question=event.question,
                        index_name=event.index,
                        pipeline=event.pipeline,
                        started_at=event.at,
                        status="running",
                        follows=latest.scalar_subquery() if event.follows is None else event.follows or None,
                    )
                )
                connection.execute(
                    schema.conversations.update()
                    .where(schema.conversations.c.id == event.conversation_id)
                    .values(updated_at=event.at)
                )
            if isinstance(event, RunFinished):
                ending = self._ending(connection, run_id, event)
                connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(**ending))
            position = select(func.count()).where(schema.events.c.run_id == run_id).scalar_subquery()
            text = without_documents(to_json(event), self._removed)
            connection.execute(schema.events.insert().values(run_id=run_id, position=position, event=text))

    def _ending(self, connection: Connection, run_id: str, last: RunFinished) -> dict[str, Any]:
        """What its row tells of a run that is over. Its events are only read where they have to tell why."""
        before: list[Event] = []
        if last.outcome in ("not_in_documents", "unconfirmed"):
            rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id)
            texts = connection.execute(rows.order_by(schema.events.c.position)).scalars()
            before = [from_json(text) for text in texts]
        finding = cause_of([*before, last])
        return {
            "status": last.status,
            "seconds": last.totals.seconds,
            "tokens": last.totals.tokens,
            "model_calls": last.totals.model_calls,
            "outcome": last.outcome,
            "cause": finding.cause if finding else None,
        }

    def save_calls(self, run_id: str, step: str, attempt: int, calls: Sequence[Call]) -> None:
        """Of a step that is over, as far as the limits of rag/trace/calls.py let them be kept.

        None of a run that has read a document which was removed meanwhile.
        """
        with self._saving, self._changing() as connection:
            if self._removed and self._quotes(connection, run_id, frozenset(self._removed)):
                return
            so_far = select(func.sum(schema.calls.c.characters)).where(schema.calls.c.run_id == run_id)
            kept = within_limits(calls, MOST_OF_A_RUN - (connection.execute(so_far).scalar() or 0))
            connection.execute(
                schema.calls.insert().values(
                    run_id=run_id,
                    step=step,
                    attempt=attempt,
                    characters=sum(call.characters for call in kept),
                    packed=pack(kept),
                )
            )

    def calls(self, run_id: str, step: str, attempt: int) -> tuple[Call, ...]:
        """Of one step, in the order in which they began; none where they are not kept."""
        of_step = (schema.calls.c.run_id == run_id, schema.calls.c.step == step, schema.calls.c.attempt == attempt)
        with self._database.connect() as connection:
            packed = connection.execute(select(schema.calls.c.packed).where(*of_step)).scalar()
        return unpack(packed) if packed else ()

    def copy_calls(self, run_id: str, to_run_id: str, steps: Collection[tuple[str, int]]) -> None:
        """Of these steps, by name and attempt, as a fork has them from its origin."""
        calls = schema.calls
        with self._saving, self._changing() as connection:
            for step, attempt in steps:
                of_step = (calls.c.run_id == run_id, calls.c.step == step, calls.c.attempt == attempt)
                copied = select(
                    literal(to_run_id), calls.c.step, calls.c.attempt, calls.c.characters, calls.c.packed
                ).where(*of_step)
                connection.execute(calls.insert().from_select(list(calls.c.keys()), copied))

    def known_runs(self, run_ids: Collection[str], *, since: float) -> set[str]:
        """Those of them that there are and that began after `since`, in seconds since the epoch."""
        rows = select(schema.runs.c.id).where(schema.runs.c.started_at > since)
        with self._database.connect() as connection:
            return {
                run_id
                for some in batches(sorted(run_ids), VARIABLES)
                for run_id in connection.execute(rows.where(schema.runs.c.id.in_(some))).scalars()
            }

    def has_read_removed(self, run_id: str) -> bool:
        """Whether a document that it read was removed since the history was opened."""
        with self._saving, self._database.connect() as connection:
            return bool(self._removed) and self._quotes(connection, run_id, frozenset(self._removed))

    def rate(self, run_id: str, feedback: Literal[-1, 1] | None) -> None:
        """A thumb that is taken back takes its reason along."""
        values = {"feedback": feedback} if feedback else {"feedback": None, "feedback_reason": None}
        with self._changing() as connection:
            connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))

    def explain_feedback(self, run_id: str, reason: str) -> None:
        """Of a run with a thumb. `reason`: cut to LONGEST_REASON; blank for none."""
        rated = (schema.runs.c.id == run_id, schema.runs.c.feedback.is_not(None))
        with self._changing() as connection:
            kept = reason.strip()[:LONGEST_REASON] or None
            connection.execute(schema.runs.update().where(*rated).values(feedback_reason=kept))

    def save_suggestions(self, run_id: str, questions: Sequence[str]) -> None:
        """None of a run that has read a document which was removed meanwhile, or that was deleted."""
        with self._saving, self._changing() as connection:
            exists = connection.execute(select(schema.runs.c.id).where(schema.runs.c.id == run_id)).scalar()
            if not exists or (self._removed and self._quotes(connection, run_id, frozenset(self._removed))):
                return
            rows = [{"run_id": run_id, "position": at, "question": each} for at, each in enumerate(questions)]
            connection.execute(schema.suggestions.insert(), rows)

    def suggestions(self, run_id: str) -> tuple[str, ...]:
        """Questions that may be asked next, the best first."""
        suggested = schema.suggestions.c
        rows = select(suggested.question).where(suggested.run_id == run_id).order_by(suggested.position)
        with self._database.connect() as connection:
            return tuple(connection.execute(rows).scalars())

    def blank_documents(
        self, document_ids: Collection[str], quoting: Callable[[set[str]], object] = lambda runs: None
    ) -> bool:
        """Takes out of all traces, those of runs in flight too, what they quote of these documents, which are removed.
        Prompts and replies of such a run go whole, as does what was suggested after it. `quoting` is told of these runs
        before, for what hangs on them.

        Whether it is gone from the files as well; else it is once more to be asked for.
        """
        with self._saving:
            self._removed.update(document_ids)
        removed = frozenset(document_ids)
        runs = self._quoting(removed)
        quoting(runs)
        for run_id in runs:
            with self._changing() as connection:
                for table in (schema.calls, schema.suggestions):
                    connection.execute(table.delete().where(table.c.run_id == run_id))
                rows = connection.execute(
                    select(schema.events.c.position, schema.events.c.event).where(schema.events.c.run_id == run_id)
                ).all()
                numbers = set().union(*(numbers_of(row.event, removed) for row in rows))
                for row in rows:
                    text = without_documents(row.event, removed, numbers)
                    if text != row.event:
                        this = (schema.events.c.run_id == run_id) & (schema.events.c.position == row.position)
                        connection.execute(schema.events.update().where(this).values(event=text))
        with self._database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            is_busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
        return not is_busy

    def _quoting(self, removed: frozenset[str]) -> set[str]:
        """Runs in whose traces one of them is named."""
        event = schema.events.c.event
        rows = select(schema.events.c.run_id, event).where(event.contains('"document_id":"'))
        with self._database.connect() as connection:
            return {
                row.run_id
                for row in connection.execute(rows.execution_options(yield_per=100))
                if numbers_of(row.event, removed)
            }

    def _quotes(self, connection: Connection, run_id: str, removed: frozenset[str]) -> bool:
        rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id)
        return any(numbers_of(event, removed) for event in connection.execute(rows).scalars())

    def _changing(self) -> AbstractContextManager[Connection]:
        """One transaction. Raises NotSaved."""
        return schema.changing(self._database)

    def _select_runs(self, *conditions: ColumnElement[bool], latest: int | None = None) -> list[PastRun]:
        """The earliest first; `latest`: only that many, the last ones."""
        rows = select(*schema.runs.c, schema.runs.c.index_name.label("index")).where(*conditions)
        with self._database.connect() as connection:
            found = connection.execute(rows.order_by(schema.runs.c.started_at.desc()).limit(latest)).mappings().all()
        return [PastRun.model_validate(dict(row)) for row in reversed(found)]


_IS_CHAT = schema.conversations.c.kind == "chat"
"""forks and comparisons are reached through their runs"""


def _asked_with(words: str) -> list[ColumnElement[bool]]:
    """Conditions on conversations of the chat."""
    return [_IS_CHAT, *map(_holds, words.split())]


def _holds(word: str) -> ColumnElement[bool]:
    """The title may be a person's own, or a first question of which there is no run yet."""
    asked = select(schema.runs.c.conversation_id).where(schema.runs.c.question.icontains(word, autoescape=True))
    return or_(schema.conversations.c.title.icontains(word, autoescape=True), schema.conversations.c.id.in_(asked))


def _title(text: str) -> str:
    """On one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"


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

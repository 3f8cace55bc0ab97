"""Stored conversations: list, search, rename, delete with their runs."""

import time
import uuid
from typing import Literal

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, Engine, Select, func, literal, or_, select

from index_store.access.principal import Principal
from index_store.base.database.database import backend_of, storable
from index_store.base.text.shortened import shortened
from rag.runs.history import schema
from rag.runs.history.ownership import is_owned_by, person_id

TITLE_LENGTH = 60
"""characters of the first question"""


AT_ONCE = 50
"""conversations deleted in one transaction; between transactions others can save"""


class Conversation(BaseModel, frozen=True):
    id: str
    title: str
    updated_at: float
    """seconds since the epoch"""


class Conversations:
    """Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def new(
        self,
        question: str,
        kind: Literal["chat", "comparison", "fork"] = "chat",
        *,
        principal: Principal,
        origin_run_id: str | None = None,
        within: Connection | None = None,
    ) -> Conversation:
        """`principal`: the owner; `origin_run_id`: for a fork, which is deleted with that run; `within`: the
        transaction to use.
        """
        now = time.time()
        row = Conversation(id=uuid.uuid4().hex, title=as_title(question), updated_at=now)
        with schema.changing(self._database, within) as connection:
            connection.execute(
                schema.conversations.insert().values(
                    created_at=now,
                    kind=kind,
                    origin_run_id=origin_run_id,
                    person_id=person_id(principal),
                    **row.model_dump(),
                )
            )
        return row

    def listed(self, words: str = "", *, latest: int | None = None, principal: Principal) -> list[Conversation]:
        """The principal's conversations of the chat, the latest first. `words`: only conversations whose questions
        contain all of them, in any order, case and width; `latest`: at most that many.
        """
        rows = select(schema.conversations.c.id, schema.conversations.c.title, schema.conversations.c.updated_at)
        in_order = rows.where(*self._asked_with(words, principal)).order_by(schema.conversations.c.updated_at.desc())
        with self._database.connect() as connection:
            return [Conversation(**row) for row in connection.execute(in_order.limit(latest)).mappings()]

    def count(self, words: str = "", *, principal: Principal) -> int:
        """`words`: as above."""
        count = select(func.count()).select_from(schema.conversations).where(*self._asked_with(words, principal))
        with self._database.connect() as connection:
            return connection.execute(count).scalar_one()

    def get(self, conversation_id: str) -> Conversation | None:
        rows = select(schema.conversations.c.id, schema.conversations.c.title, schema.conversations.c.updated_at)
        with self._database.connect() as connection:
            found = connection.execute(rows.where(schema.conversations.c.id == conversation_id)).mappings().first()
            return Conversation(**found) if found else None

    def exists(self, conversation_id: str) -> bool:
        return self.get(conversation_id) is not None

    def is_comparison(self, conversation_id: str) -> bool:
        kind = select(schema.conversations.c.kind).where(schema.conversations.c.id == conversation_id)
        with self._database.connect() as connection:
            return connection.execute(kind).scalar() == "comparison"

    def list_in_chat(self, conversation_id: str, *, within: Connection) -> None:
        """Lists the conversation of a fork or a comparison in the chat, because someone continued it. It is then no
        longer deleted with its origin. `within`: the transaction that saves the new run.
        """
        this = (schema.conversations.c.id == conversation_id, ~_IS_CHAT)
        within.execute(schema.conversations.update().where(*this).values(kind="chat", origin_run_id=None))

    def rename(self, conversation_id: str, title: str) -> None:
        """Its place in the list stays the same. `title`: becomes one line and is cut if too long; a blank title changes
        nothing.
        """
        if title.strip():
            this = schema.conversations.c.id == conversation_id
            with schema.changing(self._database) as connection:
                connection.execute(schema.conversations.update().where(this).values(title=as_title(title)))

    def expire(self, since: float) -> int:
        """Deletes some conversations of every kind without a question since then, with their runs. Returns how many; 0
        if none are left. `since`: seconds since the epoch.
        """
        is_old = (schema.conversations.c.updated_at < since, schema.conversations.c.id.not_in(_busy()))
        old = select(schema.conversations.c.id).where(*is_old)
        with schema.changing(self._database) as connection:
            these = connection.execute(old.limit(AT_ONCE)).scalars().all()
            # Not those in which somebody has asked since the line before.
            are_still_old = (schema.conversations.c.id.in_(these), *is_old)
            return connection.execute(schema.conversations.delete().where(*are_still_old)).rowcount

    def ids_of(self, person_id: str | None) -> list[str]:
        """The ids of the person's conversations of every kind. `person_id`: as stored, see ownership.py."""
        rows = select(schema.conversations.c.id).where(_is_owned_by(person_id))
        with self._database.connect() as connection:
            return list(connection.execute(rows).scalars())

    def delete_all_of(self, person_id: str | None) -> None:
        """Deletes them with their runs."""
        with schema.changing(self._database) as connection:
            connection.execute(schema.conversations.delete().where(_is_owned_by(person_id)))

    def with_forks(self, conversation_id: str) -> list[str]:
        """The ids of the conversation, of the forks that are deleted with it, and of their forks."""
        found = select(literal(conversation_id).label("id")).cte("found", recursive=True)
        of_its_runs = select(schema.conversations.c.id).join(
            schema.runs, schema.runs.c.id == schema.conversations.c.origin_run_id
        )
        found = found.union(of_its_runs.join(found, found.c.id == schema.runs.c.conversation_id))
        with self._database.connect() as connection:
            return list(connection.execute(select(found.c.id)).scalars())

    def delete(self, conversation_id: str) -> None:
        """Deletes it with its runs."""
        with schema.changing(self._database) as connection:
            connection.execute(schema.conversations.delete().where(schema.conversations.c.id == conversation_id))

    def _asked_with(self, words: str, principal: Principal) -> list[ColumnElement[bool]]:
        """Conditions on conversations of the chat."""
        return [
            _IS_CHAT,
            is_owned_by(principal, schema.conversations.c.person_id),
            *map(self._holds, words.split()),
        ]

    def _holds(self, word: str) -> ColumnElement[bool]:
        """The title is searched too: a person may have chosen it, or it may be a first question that has no run yet."""
        holds = backend_of(self._database).holds
        asked = select(schema.runs.c.conversation_id).where(holds(schema.runs.c.question, word))
        return or_(holds(schema.conversations.c.title, word), schema.conversations.c.id.in_(asked))


def _is_owned_by(person_id: str | None) -> ColumnElement[bool]:
    return schema.conversations.c.person_id.is_not_distinct_from(person_id)


def _busy() -> Select[tuple[str]]:
    """The ids of conversations with a run at work, in them or in a fork that would be deleted with them."""
    at_work = select(schema.runs.c.conversation_id.label("id")).where(schema.runs.c.status == "running")
    busy = at_work.cte("busy", recursive=True, nesting=True)  # Python counts no rows of a DELETE that begins with WITH
    of_origins = select(schema.runs.c.conversation_id).join(
        schema.conversations, schema.conversations.c.origin_run_id == schema.runs.c.id
    )
    busy = busy.union(of_origins.join(busy, busy.c.id == schema.conversations.c.id))
    return select(busy.c.id)


_IS_CHAT = schema.conversations.c.kind == "chat"
"""forks and comparisons are opened from their runs"""


def as_title(text: str) -> str:
    """One line, cut if too long."""
    return shortened(" ".join(storable(text).split()), TITLE_LENGTH)

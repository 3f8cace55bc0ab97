"""Links that let others read a conversation or a run until they are revoked. Reasons: docs/decisions/runs/sharing.md

A link contains a token of 256 random bits. Only its SHA-256 is stored, so neither the list of links nor a copy of the
history can open a link. The time of a look-up by hash tells nothing about existing tokens.
"""

import hashlib
import secrets
import time
import uuid
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Engine, Row, Select, func, or_, select

from index_store.access.principal import LOCAL, Principal
from rag.errors import NothingOfThisName, NotSaved, UnknownShare
from rag.runs.history import schema
from rag.runs.history.conversations.conversations import as_title
from rag.runs.history.history import History, PastRun
from rag.runs.history.ownership import is_owned_by

TOKEN_BYTES = 32

NOTED_EVERY = 60
"""seconds between two records that a link was opened: an open page looks every few seconds"""

_COLUMNS = ("id", "run_id", "person", "created_at", "revoked_at", "opened_at", "through")
"""columns that a Share takes unchanged"""

_CONVERSATION_ID = func.coalesce(schema.shares.c.conversation_id, schema.runs.c.conversation_id)

_SHARES = schema.shares.outerjoin(schema.runs, schema.shares.c.run_id == schema.runs.c.id).join(
    schema.conversations, schema.conversations.c.id == _CONVERSATION_ID
)
"""each with its conversation or run"""


class Share(BaseModel, frozen=True):
    """All times are seconds since the epoch."""

    id: str
    kind: Literal["conversation", "run"]
    conversation_id: str
    run_id: str | None
    """None: the whole conversation"""
    title: str
    """the conversation's title, or the run's question, shortened like one"""
    person: str
    """the id of the person who made it; the id of a browser's tab from before people signed in"""
    created_at: float
    revoked_at: float | None
    opened_at: float | None
    """when it was last opened, to within NOTED_EVERY"""
    through: str | None
    """of a conversation: the run at the end of the branch that is shown; None if it had no runs"""


class NewShare(NamedTuple):
    share: Share
    token: str
    """shown only once"""


class Shared(NamedTuple):
    """The content of a link."""

    share: Share
    runs: tuple[PastRun, ...]
    """finished runs, the earliest first; of a conversation, only runs of the branch as it was when it was shared"""


class Shares:
    """In the history's database. Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._database: Engine = history.database

    def add(self, of: str, *, through: str | None = None, principal: Principal) -> NewShare:
        """Makes a link with which others may read it. `of`: the id of a conversation or a run; `through`: of a
        conversation, a run of the branch to share, as in `History.branch`; `principal`: the person who shares it.

        Raises NothingOfThisName.
        """
        is_run = self._history.run(of) is not None
        if not is_run and not self._history.conversations.exists(of):
            raise NothingOfThisName(name=of)
        id_, token = uuid.uuid4().hex, secrets.token_urlsafe(TOKEN_BYTES)
        end = None if is_run else self._history.branch(of, through=through).end
        shown = {"run_id": of} if is_run else {"conversation_id": of, "through": end}
        row = {"id": id_, "token_hash": _hash(token), "person": principal.id, "created_at": time.time(), **shown}
        with schema.changing(self._database) as connection:
            connection.execute(schema.shares.insert().values(row))
        [made] = self._select(schema.shares.c.id == id_)
        return NewShare(made, token)

    def listed(self, of: str | None = None, *, latest: int | None = None, principal: Principal) -> list[Share]:
        """Links to the principal's own conversations and runs, the latest first, revoked ones too. `of`: only links to
        this conversation or run; `latest`: at most that many.
        """
        conditions = [or_(schema.shares.c.run_id == of, schema.shares.c.conversation_id == of)] if of else []
        return self._select(_is_own(principal), *conditions, latest=latest)

    def count(self, *, principal: Principal) -> int:
        rows = select(func.count()).select_from(_SHARES).where(_is_own(principal))
        with self._database.connect() as connection:
            return connection.execute(rows).scalar_one()

    def revoke(self, share_id: str, *, principal: Principal) -> bool:
        """From now on the link shows nothing. Does nothing, and returns False, if the link is already revoked, deleted,
        or not the principal's.
        """
        own = select(schema.shares.c.id).select_from(_SHARES).where(_is_own(principal))
        this = (schema.shares.c.id == share_id) & schema.shares.c.revoked_at.is_(None) & schema.shares.c.id.in_(own)
        with schema.changing(self._database) as connection:
            return connection.execute(schema.shares.update().where(this).values(revoked_at=time.time())).rowcount > 0

    def shared(self, token: str) -> Shared:
        """The content of a link, for everybody who has it.

        Raises UnknownShare, for a link that never existed, is revoked, or whose content is deleted, without a
        difference.
        """
        found = self._select(schema.shares.c.token_hash == _hash(token), schema.shares.c.revoked_at.is_(None))
        if not found:
            raise UnknownShare()
        [share] = found
        runs: list[PastRun] = []
        if share.run_id:
            run = self._history.run(share.run_id)
            runs = [run] if run else []
        elif share.through:
            branch = self._history.branch(share.conversation_id, through=share.through)
            shown = branch.through(share.through)
            runs = self._history.runs(share.conversation_id, branch=shown, principal=LOCAL)
            title = self._history.title(share.conversation_id, branch) or share.title
            share = share.model_copy(update={"title": title})
        self._note_opened(share)
        return Shared(share, tuple(each for each in runs if each.status != "running"))

    def _note_opened(self, share: Share) -> None:
        now = time.time()
        # abs: an app whose clock is ahead may have noted it.
        if share.opened_at is None or abs(now - share.opened_at) > NOTED_EVERY:
            # People can still read while the disk is full.
            with suppress(NotSaved), schema.changing(self._database) as connection:
                this = schema.shares.c.id == share.id
                connection.execute(schema.shares.update().where(this).values(opened_at=now))

    def _select(self, *conditions: ColumnElement[bool], latest: int | None = None) -> list[Share]:
        """The latest first."""
        rows: Select[Any] = (
            select(
                *(schema.shares.c[name] for name in _COLUMNS),
                _CONVERSATION_ID.label("conversation_id"),
                func.coalesce(schema.runs.c.question, schema.conversations.c.title).label("title"),
            )
            .select_from(_SHARES)
            .where(*conditions)
            .order_by(schema.shares.c.created_at.desc())
            .limit(latest)
        )
        with self._database.connect() as connection:
            return [_share(row) for row in connection.execute(rows)]


def _is_own(principal: Principal) -> ColumnElement[bool]:
    return is_owned_by(principal, schema.conversations.c.person_id)


def _share(row: Row[Any]) -> Share:
    shown = row._asdict() | {"title": as_title(row.title)}
    return Share(kind="run" if row.run_id else "conversation", **shown)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()

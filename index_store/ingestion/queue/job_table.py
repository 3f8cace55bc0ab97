"""Jobs and their items, in SQL. Each method is one transaction."""

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Select, bindparam, delete, insert, select, update

from index_store.base.errors import Failure, PlainError
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import Lease
from index_store.catalogue.schema import job_items, jobs, now
from index_store.crawl import CrawlOptions
from index_store.ingestion.progress import Item, Stage
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import SiteSource

Deliver = Callable[[Connection, int, int], None]
"""item and its place in the job: puts the item into the queue, in the caller's transaction"""

Work = PendingVersion | SiteSource
"""the work for an item"""


@dataclass(frozen=True)
class JobRow:
    id: str
    index_id: str | None
    index: str
    """the name of its index; if the index was deleted, its last name"""
    person_id: str
    begun_at: datetime
    is_admitted: bool
    is_cancelled: bool
    is_dismissed: bool
    failure: Failure | None
    is_open: bool
    """whether any of its items is not done"""
    app: int | None
    """number of the replica that stores its sources, or that last had it in its list"""

    @property
    def is_finished(self) -> bool:
        return self.is_admitted and not self.is_open


class LeasedItem(NamedTuple):
    """An item with its lease."""

    job_id: str
    item: Item
    work: Work
    lease: Lease


class JobTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # Jobs

    def begin(self, id_: str, index_id: str | None, index: str, person_id: str, app: int) -> None:
        values = {"id": id_, "index_id": index_id, "index_name": index, "person_id": person_id, "begun_at": now()}
        flags = {"is_admitted": False, "is_cancelled": False, "is_dismissed": False}
        with self._engine.begin() as connection:
            connection.execute(insert(jobs).values(**values, **flags, app=app))

    def jobs(self, *ids: str) -> list[JobRow]:
        """The jobs of these ids, or all, in the order in which they began."""
        query = _JOBS.where(jobs.c.id.in_(ids)) if ids else _JOBS
        with self._engine.connect() as connection:
            return [_job(row) for row in connection.execute(query)]

    def set_index(self, job_id: str, index_id: str, index: str) -> None:
        self._update(job_id, index_id=index_id, index_name=index)

    def admitted(self, job_id: str, failure: PlainError | None) -> None:
        """Records that all sources of the job are among its items."""
        self._update(job_id, is_admitted=True, **({"failure": failure.as_failure().model_dump()} if failure else {}))

    def cancel(self, job_id: str) -> None:
        self._update(job_id, is_cancelled=True)

    def dismiss(self, job_id: str) -> None:
        self._update(job_id, is_dismissed=True)

    def _update(self, job_id: str, **values: Any) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(**values))

    def replicas(self) -> set[int]:
        """Numbers of the replicas that have unfinished jobs."""
        is_open = select(job_items.c.id).where(job_items.c.job_id == jobs.c.id, job_items.c.is_open).exists()
        return self._replicas(~jobs.c.is_admitted | is_open)

    def all_replicas(self) -> set[int]:
        """Numbers of the replicas that have jobs, including finished ones."""
        return self._replicas()

    def _replicas(self, *conditions: ColumnElement[bool]) -> set[int]:
        with self._engine.connect() as connection:
            named = select(jobs.c.app).distinct().where(jobs.c.app.is_not(None), *conditions)
            return set(connection.execute(named).scalars())

    def drop_finished(self, gone: Collection[int]) -> None:
        """Deletes the finished jobs of these replicas: nobody asks for them any more."""
        unfinished = select(job_items.c.job_id).where(job_items.c.is_open)
        with self._engine.begin() as connection:
            connection.execute(delete(jobs).where(_is_left(gone), jobs.c.id.not_in(unfinished)))

    def take_over(self, gone: Collection[int], app: int) -> None:
        """Gives the jobs of replicas that are gone to `app`. Sources that they had not stored yet are lost."""
        with self._engine.begin() as connection:
            connection.execute(update(jobs).where(_is_left(gone)).values(is_admitted=True, app=app))

    def forget(self, job_id: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == job_id))

    # Items

    def add(self, job_id: str, source: str, size: int) -> int:
        values = {"stage": Stage.WAITING, "embedded": 0, "waiting": 0, "is_listed": True, "is_open": False}
        with self._engine.begin() as connection:
            added = insert(job_items).values(job_id=job_id, source=source, size=size, **values)
            return int(connection.execute(added.returning(job_items.c.id)).scalar_one())

    def put(self, item_id: int, size: int, work: Work, place: int, deliver: Deliver) -> None:
        """Records the work for an item and delivers it to a worker."""
        values = {"size": size, "work": _written(work), "is_open": True}
        with self._engine.begin() as connection:
            connection.execute(update(job_items).where(job_items.c.id == item_id).values(**values))
            deliver(connection, item_id, place)

    def put_again(self, forgotten: Select[int], deliver: Deliver) -> None:
        """`forgotten`: selects the ids of items that are open and, for any reason, in no queue."""
        with self._engine.begin() as connection:
            for place, id_ in enumerate(connection.execute(forgotten).scalars().all()):
                deliver(connection, id_, place)

    def items(self, job_id: str) -> tuple[dict[int, Item], int]:
        """The listed items by id, in the order in which they came, and how many pages are still to come."""
        these = select(job_items).where(job_items.c.job_id == job_id).order_by(job_items.c.id)
        with self._engine.connect() as connection:
            rows = connection.execute(these).all()
        return {row.id: _item(row) for row in rows if row.is_listed}, sum(row.waiting for row in rows)

    def open_work(self) -> list[Work]:
        with self._engine.connect() as connection:
            rows = connection.execute(select(job_items.c.work).where(job_items.c.is_open)).scalars().all()
        return [_read(work) for work in rows]

    def has_other(self, job_id: str, source: str, item_id: int) -> bool:
        """Whether another item has the same source."""
        other = select(job_items.c.id).where(
            job_items.c.job_id == job_id,
            job_items.c.source == source,
            job_items.c.id != item_id,
            job_items.c.is_listed,
        )
        with self._engine.connect() as connection:
            return connection.execute(other.limit(1)).first() is not None

    def take(self, item_id: int) -> LeasedItem | None:
        """The item under a new lease, which ends any earlier one; None if there is nothing to do for it."""
        token = uuid.uuid4().hex
        with self._engine.begin() as connection:
            taken = update(job_items).where(job_items.c.id == item_id, job_items.c.is_open)
            row = connection.execute(taken.values(lease=token).returning(job_items)).one_or_none()
        if row is None:
            return None
        item = _item(row)
        item.stage, item.embedded = Stage.WAITING, 0
        return LeasedItem(row.job_id, item, _read(row.work), Lease(item_id, token))

    def take_back(self, job_id: str, *, taken: bool = False) -> list[Work]:
        """Closes items of a cancelled job and returns their work: those that no worker ever took; all with `taken`."""
        idle = update(job_items).where(job_items.c.job_id == job_id, job_items.c.is_open)
        if not taken:
            idle = idle.where(job_items.c.lease.is_(None))
        with self._engine.begin() as connection:
            rows = connection.execute(idle.values(is_open=False).returning(job_items.c.work)).scalars().all()
        return [_read(work) for work in rows]

    def write(self, changed: Iterable[tuple[int, str | None, Item, int]]) -> None:
        """Saves the state of each: id, lease, item, pages to come. Skips items of which someone else has the lease."""
        rows = [
            {
                "of_id": id_, "of_lease": lease, "new_size": item.size, "new_stage": item.stage,
                "new_chunks": item.chunks, "new_embedded": item.embedded, "new_waiting": waiting,
                "new_result": item.result.model_dump(mode="json") if item.result else None,
            }
            for id_, lease, item, waiting in changed
        ]  # fmt: skip
        if rows:
            with self._engine.begin() as connection:
                connection.execute(_WRITTEN, rows)

    def hide(self, item_id: int) -> None:
        """Takes the item off the list. Its work is still done."""
        with self._engine.begin() as connection:
            connection.execute(update(job_items).where(job_items.c.id == item_id).values(is_listed=False))
            connection.execute(delete(job_items).where(job_items.c.id == item_id, job_items.c.is_open.is_(False)))

    def close(self, lease: Lease, item: Item) -> None:
        """Records that the item is done, unless someone else has the lease."""
        this = (job_items.c.id == lease.item_id) & (job_items.c.lease == lease.token)
        values = {
            "is_open": False, "stage": Stage.DONE, "chunks": item.chunks, "embedded": item.embedded, "waiting": 0,
            "result": item.result.model_dump(mode="json") if item.result else None,
        }  # fmt: skip
        with self._engine.begin() as connection:
            connection.execute(update(job_items).where(this).values(**values))
            connection.execute(delete(job_items).where(this, job_items.c.is_listed.is_(False)))


_JOBS = (
    select(
        jobs.c.id, jobs.c.index_id, jobs.c.index_name, jobs.c.person_id, jobs.c.begun_at, jobs.c.is_admitted,
        jobs.c.is_cancelled, jobs.c.is_dismissed, jobs.c.failure, jobs.c.app,
        select(job_items.c.id).where(job_items.c.job_id == jobs.c.id, job_items.c.is_open).exists().label("is_open"),
    )
    .order_by(jobs.c.begun_at)
)  # fmt: skip

_WRITTEN = (
    update(job_items)
    .where(
        job_items.c.id == bindparam("of_id"),
        job_items.c.lease.is_not_distinct_from(bindparam("of_lease", type_=job_items.c.lease.type)),
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=job_items.c[name].type)
            for name in ("size", "stage", "chunks", "embedded", "waiting", "result")
        }
    )
)


def _is_left(gone: Collection[int]) -> ColumnElement[bool]:
    """Whether a job belongs to one of these replicas, or to an app from before replicas had numbers."""
    return jobs.c.app.is_(None) | jobs.c.app.in_(gone)


def _job(row: Any) -> JobRow:
    return JobRow(
        id=row.id, index_id=row.index_id, index=row.index_name, person_id=row.person_id, begun_at=row.begun_at,
        is_admitted=row.is_admitted, is_cancelled=row.is_cancelled, is_dismissed=row.is_dismissed,
        failure=Failure(**row.failure) if row.failure else None, is_open=row.is_open, app=row.app,
    )  # fmt: skip


def _item(row: Any) -> Item:
    result = IngestResult(**row.result) if row.result else None
    return Item(row.source, row.size, Stage(row.stage), row.chunks, row.embedded, result)


def _written(work: Work) -> dict[str, Any]:
    if isinstance(work, SiteSource):
        return {"site": work.options.model_dump(mode="json"), "parent": work.parent}
    return {"version": asdict(work)}


def _read(work: dict[str, Any]) -> Work:
    if "site" in work:
        return SiteSource(CrawlOptions(**work["site"]), work["parent"])
    return PendingVersion(**work["version"])


def sources_of(works: Sequence[Work]) -> tuple[set[str], set[str]]:
    """Ids of documents, and sources of files and of sites. Not of pages: the first page of a site has its address, but
    does not bring the others.
    """
    documents = {work.document_id for work in works if isinstance(work, PendingVersion)}
    return documents, {work.source for work in works if not work.parent}

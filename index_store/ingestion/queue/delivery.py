"""Delivers items to workers: Procrastinate, in the schema of the catalogue's database.

Only this module imports Procrastinate. A message is an item's id: the work itself is in the item's row.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Self

import procrastinate
import psycopg_pool
from procrastinate import exceptions
from procrastinate.jobs import Job
from procrastinate.schema import SchemaManager, migrations_path
from sqlalchemy import Connection, Engine, String, cast, column, exists, func, select, table

from index_store.base import errors
from index_store.base.database.advisory_locks import MAKING_QUEUE
from index_store.base.database.postgres import conninfo, driver_url, session
from index_store.catalogue.schema import job_items

log = logging.getLogger(__name__)

QUEUE = "ingestion"
TASK = "item"

BEAT = 5.0
"""seconds between a worker's heartbeats"""
DEAD = 20.0
"""seconds without a heartbeat after which a worker counts as dead and others may take its items"""
SWEEP = 5.0
"""seconds between searches for dead workers"""
POLL = 1.0
"""seconds between searches for returned items, because no worker is notified of these"""
RECONNECT_SECONDS = 3.0
"""seconds after which a database that is away is tried again"""
CANCEL_AGAIN_SECONDS = 5.0
"""seconds after which a task that has not ended is cancelled again"""
REDELIVERY_SECONDS = 1
"""a whole number, after which an item is delivered again, so that an error that lasts keeps no worker busy"""
ENDING_SECONDS = 10.0
"""seconds that items have to end before they are cancelled"""

QueueError = exceptions.ProcrastinateException
"""the base of the queue's own errors"""


class Redeliver(Exception):
    """An item must be delivered again."""


def make_tables(engine: Engine) -> None:
    """Creates or migrates Procrastinate's tables in the catalogue's schema. The app that owns the schema calls it.

    Raises DataFolderNewer if the tables are of a later version.
    """
    known = sorted(file.stem for file in migrations_path.glob("*.sql"))
    with engine.begin() as connection:
        connection.execute(func.pg_advisory_xact_lock(MAKING_QUEUE))
        # Psycopg's own method, which accepts scripts of several statements.
        run = connection.connection.driver_connection.execute  # type: ignore[union-attr]
        found = connection.exec_driver_sql(
            "SELECT obj_description(to_regclass('procrastinate_jobs'), 'pg_class'), to_regclass('procrastinate_jobs')"
        ).one()
        if found[1] is None:
            run(SchemaManager.get_schema())
        elif found[0] not in known:
            place = engine.url.set(query={}).render_as_string(hide_password=True)
            raise errors.DataFolderNewer(file="procrastinate_jobs", folder=place, found=found[0], known=known[-1])
        else:
            for name in known[known.index(found[0]) + 1 :]:
                log.info("Procrastinate's tables: %s", name)
                run((migrations_path / f"{name}.sql").read_text(encoding="utf-8"))
        connection.exec_driver_sql(f"COMMENT ON TABLE procrastinate_jobs IS '{known[-1]}'")


_messages = table("procrastinate_jobs", column("lock"), column("status"))

FORGOTTEN = (
    select(job_items.c.id)
    .where(
        job_items.c.is_open,
        ~exists().where(
            _messages.c.lock == cast(job_items.c.id, String), cast(_messages.c.status, String).in_(("todo", "doing"))
        ),
    )
    .order_by(job_items.c.id)
)
"""Open items that are in no queue. This happens when a worker that seemed dead ends the message of the worker that has
its item now.
"""


class Sender:
    """Puts items into the queue. Thread-safe."""

    def __init__(self) -> None:
        self._app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())

    def deliver(self, connection: Connection, item_id: int, place: int) -> None:
        """Puts an item into the queue, in the caller's transaction. The first items of every job go first, so that a
        small job is soon done. Two messages of one item are never worked on at the same time.
        """
        job = Job(
            id=None, queue=QUEUE, task_name=TASK, task_kwargs={"item_id": item_id}, priority=-min(place, 2**31 - 1),
            lock=str(item_id), queueing_lock=str(item_id),
        )  # fmt: skip
        self._app.job_manager.defer_job(job, connection=connection.connection.driver_connection)


class Receiver:
    """A worker's end of the queue, in its own thread. `handle`: processes an item, or raises Redeliver."""

    def __init__(
        self,
        database_url: str,
        handle: Callable[[int], Awaitable[None]],
        look: Callable[[], None],
        mend: Callable[[], None],
        at_once: int,
    ) -> None:
        """`look`: called every SWEEP seconds in a thread, finds items that the queue has lost. `mend`: called in a
        thread when workers have died, finishes what they had begun.
        """
        arguments: dict[str, Any] = session("catalogue")
        address = conninfo(driver_url(database_url))
        connector = procrastinate.PsycopgConnector(conninfo=address, kwargs=arguments, min_size=1, max_size=4)
        self._app = procrastinate.App(connector=connector)
        self._handle = handle
        self._look = look
        self._mend = mend
        self._at_once = at_once
        self._running: set[int] = set()
        """ids of Procrastinate's jobs"""
        self._idle: set[int] = set()
        """jobs that Procrastinate assigns to this worker and that did not run here at the last check"""
        self._worker_id: int | None = None
        self._is_closed = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, name="queue", daemon=True)
        retry = procrastinate.RetryStrategy(wait=REDELIVERY_SECONDS)
        self._app.task(name=TASK, queue=QUEUE, pass_context=True, retry=retry)(self._do)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Takes no more items; running ones have ENDING_SECONDS. Call `join` after it."""
        self._is_closed.set()
        loop = self._loop
        if loop:
            with suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(self._closing.set)

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join()

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._run())

    async def _run(self) -> None:
        while not self._is_closed.is_set():
            try:
                # Not interrupted while it opens connections: it would lose track of them.
                async with self._app.open_async():
                    await self._work()
            except (exceptions.ProcrastinateException, psycopg_pool.PoolTimeout, OSError) as error:
                log.warning("The queue can't be reached: %s", error)
                await asyncio.wait({asyncio.create_task(self._closing.wait())}, timeout=RECONNECT_SECONDS)

    async def _work(self) -> None:
        working = asyncio.create_task(
            self._app.run_worker_async(
                queues=[QUEUE],
                concurrency=self._at_once,
                install_signal_handlers=False,
                fetch_job_polling_interval=POLL,
                update_heartbeat_interval=BEAT,
                stalled_worker_timeout=DEAD,
                delete_jobs="always",
                shutdown_graceful_timeout=ENDING_SECONDS,
            )
        )
        others = [asyncio.create_task(self._closing.wait()), asyncio.create_task(self._sweep())]
        try:
            await asyncio.wait({working, others[0]}, return_when=asyncio.FIRST_COMPLETED)
            await _end([working], again=ENDING_SECONDS + CANCEL_AGAIN_SECONDS)
            if not working.cancelled():
                working.result()
        finally:
            await _end(others, again=CANCEL_AGAIN_SECONDS)

    async def _do(self, context: procrastinate.JobContext, item_id: int) -> None:
        id_ = context.job.id or 0
        self._running.add(id_)
        self._worker_id = context.job.worker_id
        try:
            await self._handle(item_id)
        finally:
            self._running.discard(id_)

    async def _sweep(self) -> None:
        """Returns to the queue the jobs of dead workers, and jobs whose end this worker could not report."""
        manager = self._app.job_manager
        while True:
            await asyncio.sleep(SWEEP)
            try:
                stalled = {job.id: job for job in await manager.get_stalled_jobs(seconds_since_heartbeat=DEAD)}
                doing = {job.id: job for job in await manager.list_jobs_async(queue=QUEUE, status="doing")}
                mine = {id_ for id_, job in doing.items() if id_ and job.worker_id == self._worker_id}
                idle = mine - self._running
                lost = [*stalled.values(), *(doing[id_] for id_ in idle & self._idle if id_ not in stalled)]
                self._idle = idle
                if stalled:
                    await asyncio.to_thread(self._mend)
                for job in lost:
                    log.warning(
                        "Item %s goes back to the queue, because its worker is dead", job.task_kwargs.get("item_id")
                    )
                    with suppress(exceptions.ConnectorException):  # another worker has returned it already
                        await manager.retry_job(job)
                await asyncio.to_thread(self._look)
            except exceptions.ConnectorException as error:
                log.warning("The queue can't be checked: %s", error)


async def _end(tasks: Sequence[asyncio.Task[Any]], again: float) -> None:
    """`again`: seconds after which tasks are cancelled again. Python 3.11 loses a cancellation that arrives at the same
    moment as the awaited result; the worker would then never end.
    """
    while going_on := [task for task in tasks if not task.done()]:
        for task in going_on:
            task.cancel()
        await asyncio.wait(going_on, timeout=again)

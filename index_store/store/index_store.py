"""The index store of a process: its documents, and a facade to them for each person."""

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self

from index_store.access.access import Access
from index_store.access.gate import CurrentPrincipal, as_local
from index_store.access.grants import IndexAccess
from index_store.access.limits import in_force
from index_store.access.principal import Principal
from index_store.base.database.database import backend_of
from index_store.base.errors import EmptyIndex, UnknownIndex
from index_store.base.settings.settings import Settings
from index_store.crawl import Paces
from index_store.crawl.requests.guard import AddressGuard
from index_store.ingestion.again import sources_left
from index_store.ingestion.context import Services
from index_store.ingestion.jobs import Jobs, JobsOfProcess
from index_store.ingestion.queue.host_paces import HostPaces
from index_store.library.data_folder import lock_folder, say_if_open_to_others, share
from index_store.library.library import Library
from index_store.library.opening import open_library, open_shared_library
from index_store.library.versions import IndexLimits, Versions
from index_store.parsing.worker.parser import Parser
from index_store.search.searcher import Searcher
from index_store.store.lifecycle import Lifecycle
from index_store.store.store import Store, StoreParts
from index_store.store.user_ingestion import UserIngestion
from index_store.store.user_store import UserStore
from index_store.vectors.embeddings import Embeddings
from index_store.vectors.registry import make_embeddings


class IndexStore(Store):
    """One process owns a data folder, or replicas share it; the threads of each share the store. Its own methods run in
    the name of the local person, who may do everything: command lines use them. For people there is `as_user`.

    Raises InvalidSetting, StoreInUse, NotAsRoot, DataFolderIsFile, DataFolderUnusable, DataFolderDamaged,
    DataFolderNewer, DatabaseAway, DatabaseInUse, OlderVersionRuns, FolderNotShared, CatalogueInFolder,
    CatalogueInDatabase, SqliteTooOld, VectorsInFolder, VectorsOnServer, OriginalsInFolder, OriginalsElsewhere,
    OriginalsOfAnother, OriginalsNotThere.
    """

    def __init__(self, settings: Settings | None = None, embeddings: Embeddings | None = None) -> None:
        settings = settings or Settings()
        with ExitStack() as owned:
            if embeddings is None:
                embeddings = owned.enter_context(closing(make_embeddings(settings)))
            AddressGuard(settings.crawl_allowed)  # reports a mistake at the start, not when a site is added
            if settings.has_queue:
                share(settings.data_dir)
            else:
                owned.callback(lock_folder(settings.data_dir).release)
            say_if_open_to_others(settings.data_dir)
            library = owned.enter_context(closing(open_library(settings)))
            self.access = owned.enter_context(closing(Access(library.catalogue.database, settings)))
            """people, grants, limits, and the log of what was done"""
            self.access.audit.sweep()
            self.replica = library.catalogue.replica
            """this app among those that share its database; None if there can be only one"""
            self._searcher = Searcher(library, embeddings, settings.fusion, settings.keyword_weight)
            services = _services(settings, library, self.access, embeddings, owned)
            jobs = _jobs(services)
            self._owned = owned.pop_all()
            """closed last, or at once if a start fails: library, lock, the embedding model unless it was given"""
        lifecycle = Lifecycle(services, self.access, jobs)
        super().__init__(StoreParts(services, self._searcher, self.access, jobs, lifecycle), as_local)
        self._is_closed = False

    def close(self) -> None:
        """Documents that jobs have not finished stay pending. Closing twice is fine."""
        if self._is_closed:
            return
        self._is_closed = True
        self._parts.jobs.suspend()
        self._services.parser.close()
        self._parts.jobs.join()
        self._searcher.close()
        self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def as_user(self, who: CurrentPrincipal) -> UserStore:
        """`who`: called at each call."""
        return UserStore(self._parts, who)

    def resume(self) -> list[UserIngestion]:
        """Continues what was pending when the last process ended, whoever began it: they had the right at that time."""
        with self._library.held():  # another replica may do the same now
            resumed = self._parts.jobs.resume()
            jobs = [self._seen(job) for job in resumed.jobs]
            for index in self._catalogue.indexes.records():
                if index.id not in resumed.indexes and (sources := sources_left(self._library, index, resumed)):
                    jobs.append(self._seen(self._begin(index, sources)))
        return jobs

    def replicas(self) -> set[int]:
        """Numbers of the replicas that have unfinished jobs, including replicas that are gone."""
        return self._parts.jobs.replicas()

    def take_over(self, gone: Set[int]) -> None:
        """Continues the jobs that these replicas have left. Raises OSError, SQLAlchemyError."""
        with self._library.held():
            self._library.repair()
        self._parts.jobs.take_over(gone)
        self.resume()

    def unfinished(self) -> set[object]:
        """What is recorded as to be deleted. What two calls in a row return, no process is deleting. Raises
        SQLAlchemyError.
        """
        return self._library.unfinished()

    def finish(self) -> None:
        """Deletes what is `unfinished`. Raises OSError, SQLAlchemyError."""
        self._library.finish()

    def answering(self) -> AbstractContextManager[None]:
        """While a model on this machine answers a question: jobs wait for it."""
        return self._services.precedence.question()

    def owned_by(self, person_id: str) -> tuple[list[str], list[str]]:
        """Names of their indexes: those without grants, and those that others may use."""
        owned = self._owned_by(person_id)
        alone = [each.index for each in owned if not each.grants]
        return alone, [each.index for each in owned if each.grants]

    def delete_owned_by(self, person_id: str, *, by: Principal) -> None:
        """Deletes their indexes without grants; the others then have no owner. Raises ChangeFailed."""
        for each in self._owned_by(person_id):
            index = self._catalogue.indexes.record(each.id)  # by id: its name may be somebody else's by now
            if index is None:
                continue
            with suppress(UnknownIndex, EmptyIndex):  # another app deletes it at the same moment
                if each.grants:
                    self.access.grants.set_owner(index.name, None)
                else:
                    self._parts.lifecycle.delete(self._gate, index, by)
        backend_of(self._catalogue.database).clear_log(self._catalogue.database)

    def _owned_by(self, person_id: str) -> list[IndexAccess]:
        return [each for each in self.access.grants.all() if each.owner == person_id]

    def cancel_jobs_of(self, person_id: str) -> None:
        """Also waits until they have ended."""
        jobs = [job for job in self._parts.jobs.all() if job.order.person_id == person_id]
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.end()
            self._parts.jobs.forget(job.id)

    def watch_removals(self, on_removal: Callable[[], object]) -> None:
        """`on_removal`: called in any thread after documents were removed, also by a job; it should return at once."""
        self._library.on_removal = on_removal

    def removed(self) -> list[str]:
        """Ids of documents that were removed and not forgotten since, also by an earlier process."""
        return self._catalogue.removed_documents.ids()

    def forget_removed(self, document_ids: Sequence[str]) -> None:
        """Called when nothing quotes them any more."""
        self._catalogue.removed_documents.forget(document_ids)


def _services(
    settings: Settings, library: Library, access: Access, embeddings: Embeddings, owned: ExitStack
) -> Services:
    """What jobs work with, in an app and in a worker."""
    parser = Parser(settings, _parsing_folder(settings, library, owned))
    versions = Versions(library, partial(_limits_of, access, settings))
    return Services(settings, library, versions, parser, embeddings, paces=_paces(library, settings))


def _paces(library: Library, settings: Settings) -> Paces:
    return HostPaces(library.catalogue.database) if settings.has_queue else Paces()


def _jobs(services: Services) -> Jobs:
    replica = services.library.catalogue.replica
    if not replica:
        return JobsOfProcess(services)
    # Imported only with a queue: Procrastinate loads a lot.
    from index_store.ingestion.queue.queued_jobs import QueuedJobs

    return QueuedJobs(services, replica, works=services.settings.workers == "here")


def _parsing_folder(settings: Settings, library: Library, owned: ExitStack) -> Path | None:
    """A folder of this process alone, if others share the data folder; otherwise None. If this process is killed, a
    later start deletes what documents say in it.
    """
    return owned.enter_context(library.originals.work_folder()).absolute() if settings.has_queue else None


@contextmanager
def working(settings: Settings) -> Iterator[None]:
    """Until the block ends, this process works on documents that are added to the app's store.

    Raises InvalidSetting, NoQueue, NotAsRoot, FolderNotShared, DataFolderUnusable, DataFolderNewer, DatabaseAway.
    """
    with ExitStack() as owned:
        library = owned.enter_context(closing(open_shared_library(settings)))
        from index_store.ingestion.queue.worker import Worker

        AddressGuard(settings.crawl_allowed)
        embeddings = owned.enter_context(closing(make_embeddings(settings)))
        access = owned.enter_context(closing(Access(library.catalogue.database, settings)))
        services = _services(settings, library, access, embeddings, owned)
        worker = Worker(services).start()
        try:
            yield
        finally:
            worker.stop()
            services.parser.close()
            worker.join()


def _limits_of(access: Access, settings: Settings, index_id: str) -> IndexLimits:
    of_owner = access.limits.of_index(index_id)
    return IndexLimits(
        in_force(of_owner.files, settings.files_per_index), in_force(of_owner.megabytes, settings.megabytes_per_index)
    )

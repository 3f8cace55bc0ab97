"""The index store of a process: its documents, and the doors to them for whoever asks."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from functools import partial
from typing import Self

from index_store.access.access import Access
from index_store.access.gate import Who, as_local
from index_store.access.limits import in_force
from index_store.access.principal import Principal
from index_store.base.database import clear_log
from index_store.base.errors import EmptyIndex, UnknownIndex
from index_store.base.settings import Settings
from index_store.crawl.guard import AddressGuard
from index_store.ingestion.context import Services
from index_store.ingestion.sources import SiteSource, source_of
from index_store.library.data_folder import open_library, own
from index_store.library.versions import Space, Versions
from index_store.parsing.worker.parser import Parser
from index_store.search.searcher import Searcher
from index_store.user_store import Parts, Store, UserIngestion, UserStore
from index_store.vectors.embeddings import Embeddings
from index_store.vectors.registry import make_embeddings


class IndexStore(Store):
    """One process owns a data folder; its threads share the store. What is asked of it itself is asked in the local
    person's name, who may everything: command lines do. For people there is `as_user`.

    Raises InvalidSetting, StoreInUse, DataFolderUnusable, DataFolderDamaged, DataFolderNewer.
    """

    def __init__(self, settings: Settings | None = None, embeddings: Embeddings | None = None) -> None:
        settings = settings or Settings()
        with ExitStack() as owned:
            if embeddings is None:
                embeddings = owned.enter_context(closing(make_embeddings(settings)))
            AddressGuard(settings.crawl_allowed)  # a mistake in it is told at the start, not when a site is added
            owned.callback(own(settings.data_dir).release)
            library = owned.enter_context(closing(open_library(settings.data_dir)))
            self.access = owned.enter_context(closing(Access(library.catalogue.database, settings)))
            """people, grants, limits, and the log of what was done"""
            self.access.audit.sweep()
            self._parser = Parser(settings)
            self._searcher = Searcher(library, embeddings, settings.fusion, settings.keyword_weight)
            versions = Versions(library, partial(_space_of, self.access, settings))
            services = Services(settings, library, versions, self._parser, embeddings)
            self._owned = owned.pop_all()
            """what is closed last, or at once where a start fails: library, lock, the embedding model unless given"""
        super().__init__(Parts(services, self._searcher, self.access), as_local)
        self._is_closed = False

    def close(self) -> None:
        """What jobs have not done stays pending. Closing twice is fine."""
        if self._is_closed:
            return
        self._is_closed = True
        jobs = self._parts.jobs.all()
        for job in jobs:
            job.suspend()
        self._parser.close()
        for job in jobs:
            job.wait()
        self._searcher.close()
        self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def as_user(self, who: Who) -> UserStore:
        """`who`: is asked at each call."""
        return UserStore(self._parts, who)

    def resume(self) -> list[UserIngestion]:
        """Goes on with what was pending when the last process ended, whoever began it: they might when they did."""
        jobs = []
        for index in self._catalogue.indexes.records():
            documents = self._catalogue.documents.records(index.id)
            sources = [source_of(each, self._library.originals) for each in documents if each.is_under_way]
            sources += [SiteSource(site.options) for site in self._catalogue.sites.of(index.id) if site.is_crawling]
            if sources:
                jobs.append(self._seen(self._begin(index, sources)))
        return jobs

    def answering(self) -> AbstractContextManager[None]:
        """While a model of this machine answers a question: jobs give way to it."""
        return self._services.precedence.question()

    def owned_by(self, person_id: str) -> tuple[list[str], list[str]]:
        """Names of their indexes: those of which nothing is granted, and those that others may use."""
        owned = [each for each in self.access.grants.all() if each.owner == person_id]
        alone = [each.index for each in owned if not each.grants]
        return alone, [each.index for each in owned if each.grants]

    def delete_owned_by(self, person_id: str, *, by: Principal) -> None:
        """Those that are theirs alone; the others are nobody's then. Raises ChangeFailed."""
        alone, shared = self.owned_by(person_id)
        for name in alone:
            if index := self._catalogue.indexes.named(name):
                self._delete(index, by)
        for name in shared:
            with suppress(UnknownIndex, EmptyIndex):
                self.access.grants.set_owner(name, None)
        clear_log(self._catalogue.database)

    def cancel_jobs_of(self, person_id: str) -> None:
        """And waits for their ends."""
        jobs = [job for job in self._parts.jobs.all() if job.order.person_id == person_id]
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait()
            self._parts.jobs.dismiss(job.id)

    def watch_removals(self, told: Callable[[], object]) -> None:
        """`told` is called, in any thread, after documents were removed, by a job too: it should return at once."""
        self._library.on_removal = told

    def removed(self) -> list[str]:
        """Ids of documents that were removed and not forgotten since, be it by an earlier process."""
        return self._catalogue.removed.ids()

    def forget_removed(self, document_ids: Sequence[str]) -> None:
        """Once nobody quotes them any more."""
        self._catalogue.removed.forget(document_ids)


def _space_of(access: Access, settings: Settings, index_id: str) -> Space:
    of_owner = access.limits.of_index(index_id)
    return Space(
        in_force(of_owner.files, settings.files_per_index), in_force(of_owner.megabytes, settings.megabytes_per_index)
    )

"""The threads that process a document, from parsing to saving."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Self

from index_store.base.errors import PlainError
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import JobContext
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.progress import Stage
from index_store.ingestion.stages.completion import Completion, DocumentTask
from index_store.ingestion.stages.embedding import Embedding
from index_store.ingestion.stages.saving import Saving
from index_store.parsing.loaders.document import RawFile


class IngestionPipeline:
    """The pipeline of one job. Ends with the context, after the documents that it was given."""

    def __init__(
        self, context: JobContext, index: IndexRecord, completion: Completion, give_up: Callable[[PlainError], None]
    ) -> None:
        """`give_up`: called with an error that must end the whole job."""
        self._services = context.services
        self._stop = context.stop
        self._original = context.original
        self._completion = completion
        self._saving = Saving(context, completion)
        self._embedding = Embedding(context, index, completion, self._saving, give_up)
        self._readers = ThreadPoolExecutor(self._services.settings.parser_workers)
        self._entered = ExitStack()

    def __enter__(self) -> Self:
        for each in (self._saving, self._embedding, self._readers):
            self._entered.enter_context(each)
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.close()

    def take(self, task: DocumentTask) -> None:
        self._embedding.expect()  # before reading: the load must not wait behind a call that hangs
        self._readers.submit(self._read, task)

    def _read(self, task: DocumentTask) -> None:
        """Runs in one of several threads; each waits for a parser's process."""
        if self._stop.is_set:
            self._completion.leave(task)
            return
        task.item.stage = Stage.READING
        version = task.version
        try:
            with self._original(version) as path:
                task.parsed = self._services.parser.load(
                    RawFile(path, version.name, version.charset, version.archive_folder),
                    version.kind,
                    lambda: self._stop.is_set,
                )
        except Exception as error:  # noqa: BLE001 - the edge of the thread: nobody reads its result
            what = f"{version.source} can't be read"
            self._completion.fail(task, as_plain_error(error, what, version.name))
            return
        task.item.chunks = task.parsed.chunk_count
        task.item.stage = Stage.EMBEDDING
        self._embedding.take(task)

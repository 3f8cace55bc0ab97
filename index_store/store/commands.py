"""The commands of `python -m index_store` that work with documents and indexes."""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from index_store.base import errors
from index_store.base.command_line.commands import Command, Commands, Output, counted
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import Document
from index_store.crawl import CrawlOptions
from index_store.crawl.address import typed
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import FileSource, SiteSource, expand, is_address
from index_store.store.index_store import IndexStore
from index_store.store.search_command import add_search, search
from index_store.store.user_ingestion import UserIngestion
from index_store.store.worker_command import work

NOTHING_ADDED = {"document_id": None, "chunks": 0, "sections": 0, "pages_without_text": ""}
"""for a source of which nothing was added"""

OnStore = Callable[[IndexStore, argparse.Namespace, Output], bool]


def add_to(commands: Commands) -> None:
    def on_index(name: str, run: OnStore, what: str) -> argparse.ArgumentParser:
        added = commands.add(name, _with_store(run), what)
        added.add_argument("--index", required=True, metavar="NAME")
        return added

    _add_sources(on_index("add", _add, "load files, folders and sites into an index"))
    commands.add("list", _with_store(_list), "list the indexes, or the documents of one").add_argument(
        "--index", metavar="NAME"
    )
    on_index("remove", _remove, "remove documents from an index").add_argument(
        "sources", nargs="+", metavar="SOURCE", help="a document's source, or a folder above it"
    )
    on_index("retry", _retry, "load documents again that failed or were interrupted")
    on_index("reindex", _reindex, "load all documents again, with the current embedding model and chunk size")
    commands.add(
        "check", _with_store(_check), "compare catalogue, vectors, full text and originals, and report differences"
    )
    on_index("rename", _rename, "give an index another name").add_argument("name", metavar="NEW_NAME")
    on_index("drop", _drop, "remove an index with all its documents")
    add_search(on_index("search", search, "search an index with a question"))
    commands.add("worker", work, "read and embed the documents that are added in the app, on this or another machine")


def _with_store(run: OnStore) -> Command:
    def opened(options: argparse.Namespace, out: Output) -> bool:
        with IndexStore(Settings()) as store:
            return run(store, options, out)

    return opened


def _add_sources(command: argparse.ArgumentParser) -> None:
    command.add_argument("sources", nargs="+", metavar="SOURCE", help="a file, a folder, or the address of a site")
    site = CrawlOptions.model_fields
    for name, what in (("depth", "link depth"), ("limit", "pages at most")):
        command.add_argument(f"--{name}", type=int, default=site[name].default, help=f"of a site: {what} (%(default)s)")
    for name, what in (("include", "only these paths"), ("exclude", "but not these")):
        command.add_argument(
            f"--{name}", action="append", default=[], metavar="PATTERN", help=f"of a site: {what}, such as /docs/*"
        )


# Documents


def _add(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    refused: list[errors.DocumentError] = []

    def refuse(folder: str, error: errors.DocumentError) -> None:
        refused.append(error)
        out.failed(folder, error.as_failure(), NOTHING_ADDED)

    def cannot_be_read(error: OSError) -> None:
        folder = str(error.filename)
        refuse(folder, errors.FolderUnreadable(name=folder, reason=error.strerror or error))

    sources: list[FileSource | SiteSource] = []
    for given in options.sources:
        if not given:  # an empty variable of a shell; as a path it would be the folder that the shell is in
            refuse(given, errors.DocumentMissing(name='""'))
            continue
        if is_address(given):
            sources.append(SiteSource(_crawl_options(given, options)))
            continue
        before = len(refused)
        files = expand([Path(given)], cannot_be_read)
        if not files and len(refused) == before:
            refuse(given, errors.EmptyFolder(name=given))
        sources += [FileSource(file) for file in files]
    all_well = _all_added(store.ingest(options.index, sources), out) and not refused
    _note_limits(store, options.index, [each for each in sources if isinstance(each, SiteSource)], out)
    return all_well


def _note_limits(store: IndexStore, index: str, sites: Sequence[SiteSource], out: Output) -> None:
    """Names the sites that may have more pages than their limit."""
    if not sites:
        return
    pages = Counter(each.parent for each in store.documents(index))
    for site in sites:
        limit = site.options.limit
        if site.options.depth and pages[site.source] >= limit:
            out.note(
                f"The limit of {counted(limit, 'page')} is reached: {site.source} may have more. "
                "Add it again with a higher --limit.",
                f"上限の {limit} ページに達しました。{site.source} にはほかにもページがある可能性があります。"
                "--limit を増やして再度追加してください。",
            )


def _retry(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    return _all_added(store.retry(options.index), out)


def _reindex(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    return _all_added(store.reindex(options.index), out)


def _all_added(job: UserIngestion, out: Output) -> bool:
    """Prints each document when it is done; after Ctrl-C the rest stays pending. Raises the failure of the job."""
    all_well = True
    for result in job.as_completed():
        all_well &= result.error is None
        _tell(result, out)
    if job.failure:
        raise job.failure
    return all_well


def _tell(result: IngestResult, out: Output) -> None:
    if result.error:
        out.failed(result.source, result.error, {**NOTHING_ADDED, "document_id": result.document_id})
        return
    counts = _counts(result)
    out.line(result.model_dump(mode="json"), f"{result.status.value}  {result.source}  {counts}")


def _crawl_options(url: str, options: argparse.Namespace) -> CrawlOptions:
    return CrawlOptions(
        url=url,
        depth=options.depth,
        limit=options.limit,
        include=tuple(options.include),
        exclude=tuple(options.exclude),
    )


def _list(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    if options.index is None:
        indexes = store.indexes()
        if not indexes:
            out.note(
                "There is no index yet. Make one with `add`.",
                "インデックスはまだありません。`add` で文書を追加すると作られます。",
            )
        for index in indexes:
            fields = index.model_dump(mode="json")
            counts = f"{counted(index.documents, 'document')}, {counted(index.chunks, 'chunk')}"
            out.line(fields, f"{index.name}  ({counts}, {index.embedding_model})")
        return True
    documents = store.documents(options.index)
    if not documents:
        out.note(
            "This index has no documents yet. Add some with `add`.",
            "このインデックスに文書はまだありません。`add` で追加してください。",
        )
    for document in documents:
        fields = document.model_dump(mode="json")
        fields["document_id"] = fields.pop("id")
        fields["error"] = document.error and document.error.sentence(out.language)
        counts = _counts(document)
        out.line(fields, "  ".join(filter(None, [document.status.value, document.source, counts, fields["error"]])))
    return True


def _counts(of: IngestResult | Document) -> str:
    counts = f"{counted(of.sections, 'section')}, {counted(of.chunks, 'chunk')}"
    without_text = of.pages_without_text  # of a mail, names of attachments
    return f"({counts}, no text in pages or attachments: {without_text})" if without_text else f"({counts})"


def _remove(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    all_well = True
    for source in options.sources:
        try:
            for document in store.remove(options.index, typed(source) if is_address(source) else source):
                fields = {"source": document.source, "status": "removed", "document_id": document.id, "error": None}
                out.line(fields, f"removed  {document.source}")
        except errors.UnknownDocument as error:
            all_well = False
            out.failed(source, error.as_failure(), {"document_id": None})
    return all_well


# Indexes


def _check(store: IndexStore, _: argparse.Namespace, out: Output) -> bool:
    all_well = compare(store, out)
    if all_well:
        out.note("No differences were found.", "食い違いは見つかりませんでした。")
    return all_well


def compare(store: IndexStore, out: Output) -> bool:
    """Prints each difference between the parts of the store; True if there is none."""
    differences = store.check()
    for each in differences:
        sentence = each.what.sentence(out.language)
        fields = {"index": each.index, "source": each.document, "what": each.what.code, "error": sentence}
        out.line(fields, "  ".join(filter(None, [each.index, each.document, sentence])))
    return not differences


def _rename(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    store.rename_index(options.index, options.name)
    out.line({"index": options.name, "status": "renamed"}, f"renamed  {options.index}  {options.name}")
    return True


def _drop(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    store.delete_index(options.index)
    out.line({"index": options.index, "status": "dropped"}, f"dropped  {options.index}")
    return True

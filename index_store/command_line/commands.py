"""What each command does. All give whether all went well, and raise PlainError where nothing did."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from index_store.base import errors
from index_store.command_line.output import ADDED, Output
from index_store.crawl import CrawlOptions
from index_store.ingestion.sources import FileSource, SiteSource, expand, is_address
from index_store.store import IndexStore


def add(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    all_well = True
    sources: list[FileSource | SiteSource] = []
    for given in options.sources:
        if is_address(given):
            sources.append(SiteSource(_crawl_options(given, options)))
            continue
        files = expand([Path(given)])
        if not files:
            all_well = False
            out.failed(given, errors.EmptyFolder(name=given).as_failure(), ADDED)
        sources += [FileSource(file) for file in files]
    return out.job(store.ingest(options.index, sources)) and all_well


def retry(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    return out.job(store.retry(options.index))


def reindex(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    return out.job(store.reindex(options.index))


def check(store: IndexStore, _: argparse.Namespace, out: Output) -> bool:
    differences = store.check()
    for each in differences:
        sentence = each.what.sentence(out.language)
        fields = {"index": each.index, "source": each.document, "what": each.what.code, "error": sentence}
        out.line(fields, "  ".join(filter(None, [each.index, each.document, sentence])))
    return not differences


def rename(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    store.rename_index(options.index, options.name)
    out.line({"index": options.name, "status": "renamed"}, f"renamed  {options.index}  {options.name}")
    return True


def drop(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    store.delete_index(options.index)
    out.line({"index": options.index, "status": "dropped"}, f"dropped  {options.index}")
    return True


def _crawl_options(url: str, options: argparse.Namespace) -> CrawlOptions:
    return CrawlOptions(
        url=url,
        depth=options.depth,
        limit=options.limit,
        include=tuple(options.include),
        exclude=tuple(options.exclude),
    )


def list_(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    if options.index is None:
        for index in store.indexes():
            fields = index.model_dump(mode="json")
            out.line(
                fields, f"{index.name}  ({index.documents} documents, {index.chunks} chunks, {index.embedding_model})"
            )
        return True
    for document in store.documents(options.index):
        fields = document.model_dump(mode="json")
        fields["document_id"] = fields.pop("id")
        fields["error"] = document.error and document.error.sentence(out.language)
        counts = f"({document.sections} sections, {document.chunks} chunks)"
        out.line(fields, "  ".join(filter(None, [document.status.value, document.source, counts, fields["error"]])))
    return True


def remove(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    all_well = True
    for source in options.sources:
        try:
            for document in store.remove(options.index, source):
                fields = {"source": document.source, "status": "removed", "document_id": document.id, "error": None}
                out.line(fields, f"removed  {document.source}")
        except errors.UnknownDocument as error:
            all_well = False
            out.failed(source, error.as_failure(), {"document_id": None})
    return all_well


def search(store: IndexStore, options: argparse.Namespace, out: Output) -> bool:
    if options.queries is None:
        hits = store.search(options.index, options.question or "", mode=options.mode, unit=options.unit, k=options.k)
        out.hits(None, hits)
        return True
    all_well = True
    for id_, question in _queries(options.queries):
        try:
            hits = store.search(options.index, question, mode=options.mode, unit=options.unit, k=options.k)
        except (errors.EmptyQuestion, errors.ServiceError) as error:
            all_well = False
            sentence = error.sentence(out.language)
            out.line({"id": id_, "hits": [], "error": sentence}, f"{id_}: {sentence}")
        else:
            out.hits(id_, hits)
    return all_well


def _queries(file: str) -> Iterator[tuple[object, str]]:
    """Raises BadQueries, before any answer: a mistake at the end would cost all the work before it."""
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise errors.BadQueries(file=file, line=1) from error
    queries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            query = json.loads(line)
            queries.append((query["id"], str(query["question"])))
        except (ValueError, KeyError, TypeError) as error:
            raise errors.BadQueries(file=file, line=number) from error
    yield from queries

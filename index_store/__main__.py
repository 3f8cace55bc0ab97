"""`python -m index_store add | list | search | people | audit | backup ...`: the index store from the command line.

With --json it prints one object per line, each at once. The exit status is 0 only if everything went well.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from index_store.access import commands
from index_store.access.access import open_access
from index_store.access.gate import as_local
from index_store.audit import commands as audit_commands
from index_store.backup.backup import back_up
from index_store.backup.manifest import Manifest
from index_store.backup.restore import restore
from index_store.base import errors
from index_store.base.settings import Settings
from index_store.crawl import CrawlOptions
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import FileSource, SiteSource, expand, is_address
from index_store.move.move import move
from index_store.move.plan import MoveTarget
from index_store.search.hits import Hit
from index_store.search.searcher import MODES, UNITS
from index_store.store import IndexStore, working
from index_store.user_store.user_ingestion import UserIngestion

INTERRUPTED = 130
"""exit status after Ctrl-C, as in shells: 128 + SIGINT"""

PROGRESS = 2.0
"""seconds between two progress lines of a move"""

NOTHING_ADDED = {"document_id": None, "chunks": 0, "sections": 0}
"""for a source of which nothing was added"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A file name may hold bytes that are not text; Python and JSON write such a byte as \udc80.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    out = _Output(options.json, options.language or _language_of_environment())
    try:
        all_well = options.run(options, out)
        sys.stdout.flush()
    except errors.PlainError as error:
        return out.refusal(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0 if all_well else 1


def _language_of_environment() -> str:
    # In the order in which POSIX reads them.
    first = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "ja" if first.lower().startswith("ja") else "en"


# Output


class _Output:
    """Lines for a person, or with --json one object per line."""

    def __init__(self, as_json: bool, language: str) -> None:
        self.as_json = as_json
        self.language = language

    def line(self, fields: dict[str, Any], text: str) -> None:
        print(json.dumps(fields, ensure_ascii=False) if self.as_json else text, flush=True)

    def note(self, text: str) -> None:
        """For people only: with --json nothing is printed."""
        if not self.as_json:
            print(text, file=sys.stderr)

    def failed(self, source: str, failure: errors.Failure, fields: dict[str, Any]) -> None:
        sentence = failure.sentence(self.language)
        self.line({"source": source, "status": "failed", **fields, "error": sentence}, f"failed  {source}  {sentence}")

    def job(self, job: UserIngestion) -> bool:
        """Prints each document when it is done; after Ctrl-C the rest stays pending. Raises the failure of the job."""
        all_well = True
        for result in job.as_completed():
            all_well &= result.error is None
            self.result(result)
        if job.failure:
            raise job.failure
        return all_well

    def result(self, result: IngestResult) -> None:
        if result.error:
            self.failed(result.source, result.error, {**NOTHING_ADDED, "document_id": result.document_id})
            return
        counts = f"({result.sections} sections, {result.chunks} chunks)"
        self.line(result.model_dump(mode="json"), f"{result.status.value}  {result.source}  {counts}")

    def hits(self, id_: object, hits: list[Hit]) -> None:
        fields = {"id": id_, "hits": [hit.model_dump(mode="json") for hit in hits]}
        self.line(fields, "\n\n".join([*([str(id_)] if id_ is not None else []), *map(_shown, hits)]))

    def refusal(self, error: errors.PlainError) -> int:
        if self.as_json:
            print(json.dumps({"error": error.as_failure().model_dump()}, ensure_ascii=False), flush=True)
        else:
            print(error.sentence(self.language), file=sys.stderr)
        return 1


def _shown(hit: Hit) -> str:
    where = " > ".join([hit.title, *hit.headings]) + (f"  p. {hit.page}" if hit.page else "")
    return f"{hit.rank}. {hit.score:.3f}  {where}  {hit.source}\n{hit.text}"


# Arguments


Command = Callable[[argparse.Namespace, _Output], bool]
CommandOnStore = Callable[[IndexStore, argparse.Namespace, _Output], bool]


def _parser() -> argparse.ArgumentParser:
    """The parsed arguments have `run`, the command; `json` and `language`; and the command's own."""
    whole = argparse.ArgumentParser(prog="python -m index_store", description="Store documents and search them.")
    known = whole.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object per line")
    common.add_argument("--language", choices=("en", "ja"), help="language of messages (default: from LC_ALL or LANG)")

    def command_on_folder(name: str, run: Command, what: str) -> argparse.ArgumentParser:
        added = known.add_parser(name, parents=[common], help=what)
        added.set_defaults(run=run)
        return added

    def command(name: str, run: CommandOnStore, what: str) -> argparse.ArgumentParser:
        return command_on_folder(name, partial(_with_store, run), what)

    def commands_on_access(name: str, what: str) -> commands.Add:
        inner = known.add_parser(name, help=what).add_subparsers(required=True, metavar="COMMAND")

        def add(name: str, run: commands.Command, what: str) -> argparse.ArgumentParser:
            added = inner.add_parser(name, parents=[common], help=what)
            added.set_defaults(run=partial(_with_access, run))
            return added

        return add

    def command_on_index(name: str, run: CommandOnStore, what: str) -> argparse.ArgumentParser:
        added = command(name, run, what)
        added.add_argument("--index", required=True, metavar="NAME")
        return added

    _add_sources(command_on_index("add", _add, "load files, folders and sites into an index"))
    command("list", _list, "list the indexes, or the documents of one").add_argument("--index", metavar="NAME")
    command_on_index("remove", _remove, "remove documents from an index").add_argument(
        "sources", nargs="+", metavar="SOURCE", help="a document's source, or a folder above it"
    )
    command_on_index("retry", _retry, "load documents again that failed or were interrupted")
    command_on_index("reindex", _reindex, "load all documents again, with the current embedding model and chunk size")
    command("check", _check, "compare catalogue, vectors, full text and originals, and report differences")
    command_on_index("rename", _rename, "give an index another name").add_argument("name", metavar="NEW_NAME")
    command_on_index("drop", _drop, "remove an index with all its documents")
    command_on_folder(
        "worker", _work, "read and embed the documents that are added in the app, on this or another machine"
    )
    command_on_folder("backup", _backup, "save the whole data folder in one file, while the app runs").add_argument(
        "file", type=Path, metavar="FILE", help="file to create; use a name that ends in .zip"
    )
    command_on_folder("restore", _restore, "restore a backup into an empty data folder, and check it").add_argument(
        "file", type=Path, metavar="FILE"
    )
    command_on_folder(
        "move", _move, "move a data folder to the servers in the settings, or back, and check it"
    ).add_argument(
        "--to",
        required=True,
        choices=list(MoveTarget),
        type=MoveTarget,
        help="servers: to Postgres (DATABASE_URL) and Chroma (CHROMA_URL); folder: from there back into DATA_DIR. Stop "
        "the app first. If the command is interrupted, run it again",
    )
    _add_search(command_on_index("search", _search, "search an index with a question"))
    commands.add_people(commands_on_access("people", "people and their roles"))
    commands.add_grants(commands_on_access("grants", "owners and rights of indexes"))
    audit_commands.add_arguments(
        command_on_folder("audit", _audit, "show the audit log: who did what; also while the app runs")
    )
    return whole


def _add_sources(command: argparse.ArgumentParser) -> None:
    command.add_argument("sources", nargs="+", metavar="SOURCE", help="a file, a folder, or the address of a site")
    site = CrawlOptions.model_fields
    for name, what in (("depth", "links to follow"), ("limit", "pages at most")):
        command.add_argument(f"--{name}", type=int, default=site[name].default, help=f"of a site: {what} (%(default)s)")
    for name, what in (("include", "only these paths"), ("exclude", "but not these")):
        command.add_argument(
            f"--{name}", action="append", default=[], metavar="PATTERN", help=f"of a site: {what}, such as /docs/*"
        )


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("--mode", default=MODES[0], help=" or ".join(MODES))
    command.add_argument("--unit", default=UNITS[0], help=" or ".join(UNITS))
    command.add_argument("-k", type=_count, default=4, metavar="N", help="number of hits (4)")
    asked = command.add_mutually_exclusive_group(required=True)
    asked.add_argument("--queries", metavar="FILE", help='a file with one JSON object per line: {"id", "question"}')
    asked.add_argument("question", nargs="?", metavar="QUESTION")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


# The commands: each returns whether everything went well, and raises PlainError if nothing did


def _with_store(run: CommandOnStore, options: argparse.Namespace, out: _Output) -> bool:
    with IndexStore(Settings()) as store:
        return run(store, options, out)


def _with_access(run: commands.Command, options: argparse.Namespace, out: _Output) -> bool:
    with open_access(Settings()) as access:
        return run(access, options, out)


def _audit(options: argparse.Namespace, out: _Output) -> bool:
    with open_access(Settings()) as access:
        return audit_commands.list_entries(access.as_user(as_local).audit, options, out)


def _work(_: argparse.Namespace, out: _Output) -> bool:
    """Runs until Ctrl-C or a signal ends it."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with working(Settings()):
        out.line({"status": "working"}, "working")
        ended.wait()
    return True


def _backup(options: argparse.Namespace, out: _Output) -> bool:
    manifest = back_up(Settings().data_dir, options.file)
    _told(out, options.file, "saved", manifest)
    return True


def _restore(options: argparse.Namespace, out: _Output) -> bool:
    manifest = restore(options.file, Settings().data_dir)
    all_well = _with_store(_compare, options, out)
    _told(out, options.file, "restored", manifest)
    return all_well


def _move(options: argparse.Namespace, out: _Output) -> bool:
    in_use, said = move(Settings(), options.to, _Progress(out).on_progress)
    with IndexStore(in_use) as store:
        all_well = _compare(store, options, out)
    sentence = said.sentence(out.language)
    out.line({"status": "moved", "to": options.to, "checked": all_well, "said": sentence}, sentence)
    return all_well


class _Progress:
    """A line for each thing that is moved, and every few seconds for one that takes long."""

    def __init__(self, out: _Output) -> None:
        self._out = out
        self._said_at = time.monotonic()

    def on_progress(self, what: str, done: int, of: int) -> None:
        if done < of and time.monotonic() - self._said_at < PROGRESS:
            return
        self._said_at = time.monotonic()
        fields = {"status": "moving", "what": what, "done": done, "of": of}
        self._out.line(fields, f"{what}  {done:,} of {of:,}")


def _told(out: _Output, file: Path, status: str, manifest: Manifest) -> None:
    fields = {"file": str(file), "status": status, "files": len(manifest.files), "bytes": manifest.size}
    out.line(fields, f"{status}  {file}  ({len(manifest.files)} files, {manifest.size:,} bytes)")


def _add(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    all_well = True
    sources: list[FileSource | SiteSource] = []
    for given in options.sources:
        if is_address(given):
            sources.append(SiteSource(_crawl_options(given, options)))
            continue
        files = expand([Path(given)])
        if not files:
            all_well = False
            out.failed(given, errors.EmptyFolder(name=given).as_failure(), NOTHING_ADDED)
        sources += [FileSource(file) for file in files]
    return out.job(store.ingest(options.index, sources)) and all_well


def _retry(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    return out.job(store.retry(options.index))


def _reindex(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    return out.job(store.reindex(options.index))


def _check(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    all_well = _compare(store, options, out)
    if all_well:
        out.note("Everything agrees.")
    return all_well


def _compare(store: IndexStore, _: argparse.Namespace, out: _Output) -> bool:
    differences = store.check()
    for each in differences:
        sentence = each.what.sentence(out.language)
        fields = {"index": each.index, "source": each.document, "what": each.what.code, "error": sentence}
        out.line(fields, "  ".join(filter(None, [each.index, each.document, sentence])))
    return not differences


def _rename(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    store.rename_index(options.index, options.name)
    out.line({"index": options.name, "status": "renamed"}, f"renamed  {options.index}  {options.name}")
    return True


def _drop(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
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


def _list(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    if options.index is None:
        indexes = store.indexes()
        if not indexes:
            out.note("There is no index yet. `add` makes one.")
        for index in indexes:
            fields = index.model_dump(mode="json")
            out.line(
                fields, f"{index.name}  ({index.documents} documents, {index.chunks} chunks, {index.embedding_model})"
            )
        return True
    documents = store.documents(options.index)
    if not documents:
        out.note("This index holds no documents yet. `add` brings some in.")
    for document in documents:
        fields = document.model_dump(mode="json")
        fields["document_id"] = fields.pop("id")
        fields["error"] = document.error and document.error.sentence(out.language)
        counts = f"({document.sections} sections, {document.chunks} chunks)"
        out.line(fields, "  ".join(filter(None, [document.status.value, document.source, counts, fields["error"]])))
    return True


def _remove(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
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


def _search(store: IndexStore, options: argparse.Namespace, out: _Output) -> bool:
    if options.queries is None:
        hits = store.search(options.index, options.question or "", mode=options.mode, unit=options.unit, k=options.k)
        out.hits(None, hits)
        return True
    all_well = True
    for id_, question in _queries(options.queries):
        try:
            hits = store.search(options.index, question, mode=options.mode, unit=options.unit, k=options.k)
        except (errors.EmptyQuestion, errors.QuestionTooLong, errors.ServiceError) as error:
            all_well = False
            sentence = error.sentence(out.language)
            out.line({"id": id_, "hits": [], "error": sentence}, f"{id_}: {sentence}")
        else:
            out.hits(id_, hits)
    return all_well


def _queries(file: str) -> Iterator[tuple[object, str]]:
    """Raises BadQueries before the first answer: a mistake at the end must not waste the work before it."""
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


if __name__ == "__main__":
    sys.exit(main())

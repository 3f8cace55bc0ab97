"""What the command line takes."""

import argparse
from collections.abc import Callable

from index_store.command_line import commands
from index_store.command_line.output import Output
from index_store.crawl import CrawlOptions
from index_store.search.searcher import MODES, UNITS
from index_store.store import IndexStore

Run = Callable[[IndexStore, argparse.Namespace, Output], bool]


def parser() -> argparse.ArgumentParser:
    """What it parses has `run`, the command; `json` and `language`; and the command's own."""
    whole = argparse.ArgumentParser(prog="python -m index_store", description="Keep documents, and find them.")
    known = whole.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON object a line")
    common.add_argument("--language", choices=("en", "ja"), help="of sentences; else that of LC_ALL or LANG")

    def command(name: str, run: Run, what: str) -> argparse.ArgumentParser:
        added = known.add_parser(name, parents=[common], help=what)
        added.set_defaults(run=run)
        return added

    def command_on_index(name: str, run: Run, what: str) -> argparse.ArgumentParser:
        added = command(name, run, what)
        added.add_argument("--index", required=True, metavar="NAME")
        return added

    _add_sources(command_on_index("add", commands.add, "load files, folders and sites into an index"))
    command("list", commands.list_, "the indexes, or the documents of one").add_argument("--index", metavar="NAME")
    command_on_index("remove", commands.remove, "remove documents from an index").add_argument(
        "sources", nargs="+", metavar="SOURCE", help="a document's source, or a folder above it"
    )
    command_on_index("retry", commands.retry, "load once more what failed or was interrupted")
    command_on_index("reindex", commands.reindex, "load all again, with the present embedding model and chunk size")
    command("check", commands.check, "hold the stores against each other; say what differs")
    command_on_index("rename", commands.rename, "give an index another name").add_argument("name", metavar="NEW_NAME")
    command_on_index("drop", commands.drop, "remove an index with all its documents")
    _add_search(command_on_index("search", commands.search, "find what answers a question"))
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
    command.add_argument("-k", type=_count, default=4, metavar="N", help="hits wanted (4)")
    asked = command.add_mutually_exclusive_group(required=True)
    asked.add_argument("--queries", metavar="FILE", help='lines {"id", "question"}')
    asked.add_argument("question", nargs="?", metavar="QUESTION")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number

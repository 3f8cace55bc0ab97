"""`python -m index_store search`: one question, or a file of questions."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from index_store.base import errors
from index_store.base.command_line.commands import Output
from index_store.base.command_line.terminal import in_one_line
from index_store.search.hits import Hit
from index_store.search.searcher import MODES, UNITS
from index_store.store.store import Store

MOST_HITS = 10_000
"""of a search: the databases take no number of any length"""


def add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("--mode", default=MODES[0], help=f"{', '.join(MODES)} (%(default)s)")
    command.add_argument("--unit", default=UNITS[0], help=f"what to find: {', '.join(UNITS)} (%(default)s)")
    command.add_argument("-k", type=_count, default=4, metavar="N", help="number of hits (4)")
    asked = command.add_mutually_exclusive_group(required=True)
    asked.add_argument("--queries", metavar="FILE", help='a file with one JSON object per line: {"id", "question"}')
    asked.add_argument("question", nargs="?", metavar="QUESTION")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:  # also for more digits than Python reads
        number = 0
    if not 1 <= number <= MOST_HITS:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MOST_HITS:,}")
    return number


def search(store: Store, options: argparse.Namespace, out: Output) -> bool:
    if options.queries is None:
        hits = store.search(options.index, options.question or "", mode=options.mode, unit=options.unit, k=options.k)
        _tell_hits(None, hits, out)
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
            _tell_hits(id_, hits, out)
    return all_well


def _queries(file: str) -> Iterator[tuple[object, str]]:
    """Raises QueriesUnreadable, QueriesNotInUtf8 and BadQueries before the first answer: a mistake at the end must not
    waste the work before it.
    """
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.QueriesNotInUtf8(file=file) from error
    except OSError as error:
        raise errors.QueriesUnreadable(file=file, reason=error.strerror or error) from error
    queries = []
    for number, line in enumerate(text.split("\n"), 1):  # not `splitlines`: JSON allows U+2028 in a string
        if not line.strip():
            continue
        try:
            query = json.loads(line)
            id_, question = query["id"], query["question"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise errors.BadQueries(file=file, line=number) from error
        if not isinstance(question, str):
            raise errors.BadQueries(file=file, line=number)
        queries.append((id_, question))
    yield from queries


def _tell_hits(id_: object, hits: list[Hit], out: Output) -> None:
    fields = {"id": id_, "hits": [hit.model_dump(mode="json") for hit in hits]}
    shown = [*([str(id_)] if id_ is not None else []), *map(_shown, hits)]
    if shown or out.as_json:
        out.lines(fields, "\n\n".join(shown))
    if not hits:
        out.note("Nothing was found.", "見つかりませんでした。")


def _shown(hit: Hit) -> str:
    where = " > ".join([hit.title, *hit.headings]) + (f"  p. {hit.page}" if hit.page else "")
    return in_one_line(f"{hit.rank}. {hit.score:.3f}  {where}  {hit.source}") + f"\n{hit.text}"

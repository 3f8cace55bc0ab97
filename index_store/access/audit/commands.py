"""`python -m index_store audit`: prints the audit log. Its user has the data folder, so they may read everything."""

import argparse
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from index_store.access.audit.audit import PAGE, EntryFilter, EntryPage
from index_store.access.audit.entry import Action, Entry
from index_store.base.command_line.commands import Output, names

DAY = timedelta(days=1)
LAST = datetime.max.replace(tzinfo=UTC)
"""no moment is later"""


class Log(Protocol):
    def read(self, filters: EntryFilter, *, latest: int | None) -> EntryPage: ...


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--latest", type=_count, default=PAGE, metavar="N", help="number of latest entries, 0 for all (%(default)s)"
    )
    command.add_argument("--since", type=_day, metavar="YYYY-MM-DD", help="from this day on, UTC")
    command.add_argument("--until", type=_day, metavar="YYYY-MM-DD", help="up to the end of this day, UTC")
    command.add_argument("--person", default="", metavar="WHO", help="id, or part of a name or email address")
    command.add_argument("--action", default="", choices=names(Action), metavar="ACTION", help=", ".join(Action))
    command.add_argument("--index", default="", metavar="NAME")
    command.add_argument("--words", default="", metavar="WORDS", help="words that must all be in the entry")


def list_entries(audit: Log, options: argparse.Namespace, out: Output) -> bool:
    """The earliest first, as usual for logs."""
    until = options.until and min(options.until, LAST - DAY) + DAY
    filters = EntryFilter(
        person=options.person,
        action=options.action,
        index=options.index,
        words=options.words,
        since=options.since,
        until=until,
    )
    entries = audit.read(filters, latest=options.latest or None).entries
    for entry in reversed(entries):
        out.line(entry.model_dump(mode="json", exclude_none=True), one_line(entry))
    if not entries:
        out.note("No entry matches.", "条件に合う記録はありません。")
    return True


def one_line(entry: Entry) -> str:
    """Only its printable characters, because a name or question could contain a line break that looks like the next
    entry, or commands for the terminal.
    """
    facts = (f"{name}={', '.join(value) if isinstance(value, list) else value}" for name, value in entry.facts.items())
    at = f"{entry.at:%Y-%m-%d %H:%M:%S}"
    line = "  ".join(filter(None, [at, entry.action, entry.person, entry.name, entry.index, *facts]))
    return "".join(each if each.isprintable() else " " for each in line)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a number, 0 or more")
    return int(text)


def _day(text: str) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError("must be a day such as 2026-11-23") from error
    return datetime(day.year, day.month, day.day, tzinfo=UTC)

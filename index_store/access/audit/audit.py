"""The audit log: one line of JSON per action, one file per day, only appended to.

A whole file is deleted when its day is too old, so no line is ever rewritten. Lines are flushed to the system: a
process that dies loses none, a power cut may lose the last moment.
"""

import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from filelock import FileLock, Timeout
from pydantic import SecretStr, ValidationError

from index_store.access.audit.entry import Action, Entry, Fact, aware_now, cleaned, cleaned_text
from index_store.base.errors import DataFolderUnusable
from index_store.base.folders import make_private
from index_store.base.settings.settings import SHORTEST_SECRET, Settings
from index_store.base.text.words import has_words

FOLDER = "audit"

PATIENCE = 2
"""seconds that writing waits at most for another process to write its line; the person's action waits with it"""

POLL = 0.001
"""seconds between tries"""

PAGE = 50
"""entries"""

log = logging.getLogger(__name__)


class Actor(Protocol):
    """Who did the action: a principal, or the asker of a run."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """A filter of entries; empty fields match all."""

    person: str = ""
    """a person's id; in `UserAudit` also a part of a name or mail address, in any case. Who did it, or to whom it was
    done
    """
    called_so: frozenset[str] = frozenset()
    """ids of people that also match `person`"""
    action: str = ""
    index: str = ""
    words: str = ""
    """all of them must be in the entry or the names in it, in any order, case and width"""
    names: Mapping[str, str] = field(default_factory=dict)
    """names by a person's id, for `words`"""
    since: datetime | None = None
    """with a time zone"""
    until: datetime | None = None
    """with a time zone; this moment itself is excluded"""

    def may_have(self, line: str) -> bool:
        """Tells most lines that do not match without reading their JSON, which takes fifty times as long."""
        return (not self.action or f'"action":"{self.action}"' in line) and (
            not self.person or any(id_ in line for id_ in (self.person, *self.called_so))
        )

    def has(self, entry: Entry, line: str) -> bool:
        concerned = {entry.person, entry.facts.get("whose")}
        names = (self.names.get(str(id_), "") for id_ in concerned)
        text = "\n".join((line, entry.index or "", *_strings(entry.facts), *names))
        return (
            (not self.person or not concerned.isdisjoint((self.person, *self.called_so)))
            and (not self.action or self.action == entry.action)
            and (not self.index or self.index == entry.index)
            and has_words(text, self.words)
            and (self.since is None or entry.at >= self.since)
            and (self.until is None or entry.at < self.until)
        )


def _strings(facts: Mapping[str, object]) -> Iterator[str]:
    """As people know them: JSON writes quotation marks and backslashes in another way."""
    for fact in facts.values():
        yield from map(str, fact) if isinstance(fact, list) else [str(fact)]


class EntryPage(NamedTuple):
    entries: list[Entry]
    """the latest first"""
    before: str | None
    """where the next page begins; None if there is none"""


class LostEntries(NamedTuple):
    """Entries that could not be written."""

    entries: int
    since: datetime


class Audit:
    """Thread-safe, also with other processes."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / FOLDER
        self._days = settings.audit_days
        self._keeps_questions = settings.audit_questions
        secrets = [value.get_secret_value().strip() for _, value in settings if isinstance(value, SecretStr)]
        self._secrets = sorted((each for each in secrets if len(each) >= SHORTEST_SECRET), key=len)[::-1]
        self._writing = threading.Lock()
        self._lost: LostEntries | None = None

    @property
    def is_kept(self) -> bool:
        return self._days > 0

    @property
    def lost(self) -> LostEntries | None:
        """Entries that can't be written now. Once writing works again, an entry tells how many there were."""
        return self._lost

    # Writing

    def note(
        self, action: Action, by: Actor, *, index: str | None = None, question: str | None = None, **facts: Fact
    ) -> None:
        """Raises nothing if it can't write: no work must stop for it. The log and `lost` tell then.

        `question`: its text, stored only if the settings say so. Secrets of the settings, and passwords and tokens in
        addresses, are removed from all values.
        """
        if not self.is_kept:
            return
        if question is not None and self._keeps_questions:
            facts["question"] = question
        values = cleaned(facts, self._secrets)
        of = None if index is None else cleaned_text(index, self._secrets)
        with self._writing:
            try:
                self._write(Entry(at=aware_now(), action=action, person=by.id, index=of, facts=values))
            except (OSError, Timeout):
                if not self._lost:
                    log.exception("The audit log in %s can't be written: make room, or make it writable", self._folder)
                self._lost = (
                    LostEntries(self._lost.entries + 1, self._lost.since) if self._lost else LostEntries(1, aware_now())
                )

    def _write(self, entry: Entry) -> None:
        """Also writes what was lost before. Raises OSError, Timeout."""
        entries = [entry]
        if self._lost:
            told = {"count": self._lost.entries, "since": self._lost.since.isoformat()}
            entries.insert(0, Entry(at=entry.at, action=Action.LOST, person=entry.person, facts=told))
        make_private(self._folder)
        with FileLock(self._folder / "audit.lock", mode=0o600).acquire(timeout=PATIENCE, poll_interval=POLL):
            _append(self._file(entry.at.date()), [each.model_dump_json(exclude_none=True) for each in entries])
        self._lost = None

    def _file(self, day: date) -> Path:
        return self._folder / f"{day.isoformat()}.jsonl"

    # Reading

    def read(
        self, filters: EntryFilter | None = None, *, latest: int | None = PAGE, before: str | None = None
    ) -> EntryPage:
        """`latest`: number of entries, None for all; `before`: where the last page ended, even if entries have come
        since.

        Raises DataFolderUnusable.
        """
        found: list[tuple[str, Entry]] = []
        try:
            for place, entry in self._backwards(filters or EntryFilter(), before):
                if len(found) == latest:
                    return EntryPage([each for _, each in found], found[-1][0])
                found.append((place, entry))
        except OSError as error:
            raise DataFolderUnusable(folder=self._folder, reason=error.strerror or error) from error
        return EntryPage([each for _, each in found], None)

    def as_lines(self, filters: EntryFilter, *, latest: int) -> str:
        """The earliest first. Raises DataFolderUnusable."""
        return as_lines(self.read(filters, latest=latest).entries)

    def _backwards(self, filters: EntryFilter, before: str | None) -> Iterator[tuple[str, Entry]]:
        """Yields each entry after its place: its day, and where it begins in that file."""
        last_day, _, end = (before or "").partition("/")
        for file in sorted(self._folder.glob("*.jsonl"), reverse=True):
            day = _day(file)
            is_asked_for = (
                day is not None
                and (not last_day or file.stem <= last_day)
                and (filters.since is None or day >= filters.since.astimezone(UTC).date())
                and (filters.until is None or day <= filters.until.astimezone(UTC).date())
            )
            if day is None or not is_asked_for:
                continue
            try:
                content = file.read_bytes()
            except FileNotFoundError:
                continue  # `sweep` has deleted it in the meantime
            lines = content[: int(end)] if file.stem == last_day else content
            start = len(lines)
            for line in reversed(lines.splitlines(keepends=True)):
                start -= len(line)
                text = line.decode("utf-8", "replace").strip()
                entry = _read(text, day) if text and filters.may_have(text) else None
                if entry and filters.has(entry, text):
                    yield f"{file.stem}/{start}", entry

    # Deleting

    def sweep(self) -> None:
        """Deletes the files of days that are too old."""
        since = aware_now().date() - timedelta(days=self._days)
        for file in self._folder.glob("*.jsonl"):
            day = _day(file)
            if day and (day < since or not self.is_kept):
                file.unlink(missing_ok=True)


def as_lines(entries: list[Entry]) -> str:
    """Takes entries with the latest first; returns lines with the latest last."""
    return "".join(f"{each.model_dump_json(exclude_none=True)}\n" for each in reversed(entries))


def _append(file: Path, lines: list[str]) -> None:
    """Writes all lines, or none. Raises OSError."""
    # Unbuffered: otherwise the file would try again on closing to write what failed.
    with open(file, "a+b", buffering=0, opener=partial(os.open, mode=0o600)) as log_file:
        size = log_file.seek(0, os.SEEK_END)
        if size:
            log_file.seek(size - 1)
            if log_file.read(1) != b"\n":  # a power cut has cut the last line off
                lines = ["", *lines]
        content = "".join(f"{line}\n" for line in lines).encode()
        try:
            written = log_file.write(content)
        except OSError:
            log_file.truncate(size)
            raise
        if written != len(content):
            log_file.truncate(size)
            raise OSError("the disk is full")


def _day(file: Path) -> date | None:
    """None if the file is not one of ours."""
    try:
        return date.fromisoformat(file.stem)
    except ValueError:
        return None


def _read(line: str, day: date) -> Entry:
    try:
        return Entry.model_validate(json.loads(line))
    except (ValueError, ValidationError):
        at = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return Entry(at=at, action=Action.UNREADABLE, person="", facts={"line": cleaned_text(line, ())})

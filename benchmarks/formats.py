"""Loads each file of a folder: is it ready or refused, and how many of the expected words are in its sections?

    python -m benchmarks.formats --data DIR > docs/formats.md

Files go through the real parser, in its process with its limits. `formats_expected.toml` says what is expected of a
file: words that other programs (pdftotext, w3m, unzip) find in it, words that must not be there, or the code of the
error. DIR has the files and `manifest.jsonl`: one object per line, with `file` and `note`.
"""

import argparse
import json
import re
import sys
import tempfile
import time
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from index_store.base.errors import DocumentError
from index_store.base.settings.settings import Settings
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.formats import FORMATS, format_of, is_archive
from index_store.parsing.worker.parser import Parser

EXPECTED = Path(__file__).with_name("formats_expected.toml")

_PEAK = re.compile(r"^VmHWM:\s+(\d+)", re.M)


class Expected(BaseModel, frozen=True):
    words: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    error: str | None = None
    """code of the error; for an archive, the code for one of its members"""


@dataclass
class Outcome:
    text: str = ""
    sections: int = 0
    chunks: int = 0
    seconds: float = 0
    error: DocumentError | None = None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the files and manifest.jsonl")
    data = parser.parse_args(arguments).data
    files = [json.loads(line) for line in (data / "manifest.jsonl").read_text(encoding="utf-8").strip().split("\n")]
    expected = {name: Expected(**entry) for name, entry in tomllib.loads(EXPECTED.read_text(encoding="utf-8")).items()}

    print(f"# File formats\n\n{formats_table()}\n\n{_INTRODUCTION}")
    wrong = []
    for file in sorted(files, key=lambda file: (file["file"].rpartition(".")[2], file["file"])):
        name = file["file"]
        outcome, peak = _measured(data / name)
        found = held_against(outcome, expected.get(name, Expected()))
        if found.startswith("**"):
            wrong.append(name)
        what = "ready" if outcome.error is None else outcome.error.sentence("en")
        counts = f"{outcome.sections} | {outcome.chunks}" if outcome.error is None else " | "
        note = f"{name}<br>{file['note']}".replace("|", "\\|")
        print(f"| {note} | {what} | {counts} | {outcome.seconds:.1f} | {peak:.0f} | {found} |")
    print(f"\n{len(files)} files, {len(files) - len(wrong)} as expected.")
    if wrong:
        sys.exit(f"not as expected: {', '.join(wrong)}")


def formats_table() -> str:
    """All formats that can be loaded, from their records."""
    rows = [
        f"| {record.kind} | {' '.join(record.suffixes)} | {' '.join(record.media_types)} "
        f"| {f'shown as {record.shown_as}' if record.shown_as else f'saved as {record.saved_as}'} |"
        for record in FORMATS
    ]
    return "\n".join(["| format | suffixes | called by servers | original |", "| --- | --- | --- | --- |", *rows])


_INTRODUCTION = """\
`python -m benchmarks.formats --data DIR` prints this page. *Found* is the share of the expected words that are in the
sections; `benchmarks/formats_expected.toml` lists these words, which other programs (pdftotext, w3m, unzip) find in the
same file. For a file that can't be read it says whether the error names the right reason. *MB* is the largest memory of
the parser's process for this file, including its libraries; the limit is 1024 MB above that of the libraries.

| file | result | sections | chunks | s | MB | found |
| --- | --- | --- | --- | --- | --- | --- |"""


def _measured(path: Path) -> tuple[Outcome, float]:
    """The outcome, and the peak memory in MB of a process that reads only this file."""
    with tempfile.TemporaryDirectory() as folder:
        parser = Parser(Settings(data_dir=Path(folder), parser_workers=1))
        try:
            started = time.perf_counter()
            outcome = _outcome(parser, path, Path(folder))
            outcome.seconds = time.perf_counter() - started
            return outcome, _peak()
        finally:
            parser.close()


def _peak() -> float:
    """Peak memory of the parser's process; 0 if it has ended or the system does not say."""
    # The parser's process is a child of this thread, which hands in one file at a time.
    children = Path("/proc/thread-self/children")
    pids = children.read_text().split() if children.exists() else []
    statuses = [status.read_text() for pid in pids if (status := Path(f"/proc/{pid}/status")).exists()]
    return max((int(found[1]) / 1024 for text in statuses if (found := _PEAK.search(text))), default=0)


def _outcome(parser: Parser, path: Path, folder: Path) -> Outcome:
    try:
        return (_archive if is_archive(path.name) else _file)(parser, path, path.name, folder)
    except DocumentError as error:
        return Outcome(error=error)


def _archive(parser: Parser, path: Path, name: str, folder: Path) -> Outcome:
    unpacked = parser.unpack(path, name, folder)
    outcomes = [_file(parser, member.path, member.name, folder) for member in unpacked.members]
    return Outcome(
        "".join(outcome.text for outcome in outcomes),
        sum(outcome.sections for outcome in outcomes),
        sum(outcome.chunks for outcome in outcomes),
        error=None if outcomes else unpacked.refused[0][1],
    )


def _file(parser: Parser, path: Path, name: str, _: Path) -> Outcome:
    split = parser.load(RawFile(path, name), format_of(name).kind)
    parts = [split.title]
    for section in split:
        parts += [*section.headings, section.text]
        parts += [heading for chunk in section.chunks for heading in chunk.headings]
    return Outcome(_key("\n".join(parts)), split.section_count, split.chunk_count)


def held_against(outcome: Outcome, expected: Expected) -> str:
    """The outcome, in bold if it is not as expected."""
    if outcome.error is not None or expected.error is not None:
        code = outcome.error.code if outcome.error else "ready"
        return "right reason" if code == expected.error else f"**{code}, not {expected.error or 'ready'}**"
    missing = [word for word in expected.words if _key(word) not in outcome.text]
    present = [word for word in expected.absent if _key(word) in outcome.text]
    if missing or present:
        share = 1 - len(missing) / max(len(expected.words), 1)
        named = [
            f"{what}: {' '.join(words)}"
            for what, words in (("missing", missing), ("should be absent", present))
            if words
        ]
        return f"**{'; '.join([f'{share:.0%}', *named])}**"
    return f"100% of {len(expected.words)}" if expected.words else ""


def _key(text: str) -> str:
    """Ignores spaces and the width of characters."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


if __name__ == "__main__":
    main()

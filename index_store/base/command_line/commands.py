"""What the commands of `python -m index_store` share: how they are added to its parser, and how they print. Those of
`python -m rag` print in the same way.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from io import TextIOWrapper
from typing import Any, TextIO

from index_store.base import errors
from index_store.base.command_line.terminal import for_terminal, for_terminal_as_json, in_one_line


def write_utf8() -> None:
    """Wherever the output goes: a file on Windows, say, would take only the characters of its code page."""
    for stream in (sys.stdout, sys.stderr):
        # A file name may hold bytes that are not text; Python and JSON write such a byte as \udc80.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


class OutputFailed(errors.PlainError):
    en = "The output can't be written: {reason}. Make room where it goes, or write it to another place."
    ja = "出力を書き込めません({reason})。出力先の空きを増やすか、別の場所に出力してください。"


def write(text: str, *, end: str = "\n", to: TextIO | None = None) -> None:
    """Prints what people read, at once. `to`: standard output, if it is not given.

    Raises OutputFailed, for example on a full disk; BrokenPipeError if its reader has ended.
    """
    _print(for_terminal(text), end, to)


def write_json(text: str, *, end: str = "\n") -> None:
    """The same for JSON."""
    _print(for_terminal_as_json(text), end, None)


def _print(text: str, end: str, to: TextIO | None) -> None:
    try:
        print(text, end=end, file=to, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(reason=error.strerror or error) from error


def drop_output() -> None:
    """After standard output has failed. Without this, Python prints another error while it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_refusal(error: errors.PlainError, language: str, *, as_json: bool) -> None:
    """Why a command did nothing, or not all: for people to standard error, as JSON to standard output."""
    if isinstance(error, OutputFailed):
        drop_output()
        as_json = False
    if as_json:
        write_json(json.dumps({"error": error.as_failure().model_dump()}, ensure_ascii=False))
    else:
        write(error.sentence(language), to=sys.stderr)


def counted(count: int, what: str) -> str:
    """1 chunk, 2 chunks. `what`: a noun in the singular that takes an s."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def as_sentence(what: str) -> str:
    """The help of a command in the list of all, as the first sentence of its own help."""
    return f"{what[0].upper()}{what[1:]}."


def names(choices: type[StrEnum]) -> list[str]:
    """As argparse needs them: it shows people who write another the `repr` of each."""
    return [each.value for each in choices]


class Output:
    """Lines for a person, or with --json one object per line."""

    def __init__(self, as_json: bool, language: str) -> None:
        self.as_json = as_json
        self.language = language

    def line(self, fields: dict[str, Any], text: str) -> None:
        self.lines(fields, in_one_line(text))

    def lines(self, fields: dict[str, Any], text: str) -> None:
        """The same for a text of several lines."""
        if self.as_json:
            write_json(json.dumps(fields, ensure_ascii=False))
        else:
            write(text)

    def note(self, en: str, ja: str) -> None:
        """For people only: with --json nothing is printed."""
        if not self.as_json:
            write(ja if self.language == "ja" else en, to=sys.stderr)

    def failed(self, source: str, failure: errors.Failure, fields: dict[str, Any]) -> None:
        sentence = failure.sentence(self.language)
        self.line({"source": source, "status": "failed", **fields, "error": sentence}, f"failed  {source}  {sentence}")

    def refusal(self, error: errors.PlainError) -> None:
        write_refusal(error, self.language, as_json=self.as_json)


Command = Callable[[argparse.Namespace, Output], bool]
"""returns whether everything went well; raises PlainError if nothing did"""


class Commands:
    """The commands of a parser. The parsed arguments of each have `run`, the command; `json` and `language`; and its
    own.
    """

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(required=True, metavar="COMMAND")
        self._common = argparse.ArgumentParser(add_help=False)
        self._common.add_argument("--json", action="store_true", help="print one JSON object per line")
        self._common.add_argument(
            "--language", choices=("en", "ja"), help="language of messages (default: from LC_ALL, LC_MESSAGES or LANG)"
        )

    def add(self, name: str, run: Command, what: str) -> argparse.ArgumentParser:
        """`what`: its help. Returns its parser, for arguments of its own."""
        added = self._parsers.add_parser(name, parents=[self._common], help=what, description=as_sentence(what))
        added.set_defaults(run=run)
        return added

    def group(self, name: str, what: str) -> "Commands":
        """Commands of two words, such as `people add`."""
        return Commands(self._parsers.add_parser(name, help=what, description=as_sentence(what)))

"""Makes text safe for a terminal. A name, a document or an answer may hold characters that command it, for example to
clear its window.
"""

import logging
import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""with those that turn the direction of the text after them; newline and tab only lay out the text"""


def for_terminal(text: str) -> str:
    """`text` with U+FFFD for each character that commands a terminal."""
    return _CONTROLS.sub("\ufffd", text)


def in_one_line(text: str) -> str:
    """`text` with U+FFFD for each newline, so that no name with one begins another line."""
    return text.replace("\n", "\ufffd")


def for_terminal_as_json(text: str) -> str:
    """The same for JSON, which keeps such a character as an escape."""
    return _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)


def write_log(level: int = logging.WARNING, pattern: str = "%(message)s") -> None:
    """Writes the log to standard error, unless something else takes it."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(pattern))
    logging.basicConfig(level=level, handlers=[handler])


class LogFormatter(logging.Formatter):
    """Indents all lines of an entry but the first, so that no name with a newline looks like an entry."""

    def format(self, record: logging.LogRecord) -> str:
        return for_terminal(super().format(record)).replace("\n", "\n    ")

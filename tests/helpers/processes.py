"""Processes of this machine, from Linux's /proc."""

from contextlib import suppress
from pathlib import Path

of_open_stores: set[int] = set()
"""parsers of stores that stay open for many tests: a test that looks at processes means those of its own store"""


def parsers_of(owner: int) -> set[int]:
    """Ids of the parser's running processes.

    They are found by the id of their parent. The list of children of a thread would be wrong for a moment when the
    thread ends.
    """
    found = {each for each in _children(owner) if "index_store.parsing.worker.worker" in _command(each)}
    return found - of_open_stores


def lives(process: int) -> bool:
    try:
        return _fields(process)[0] != "Z"
    except OSError:
        return False


def _children(process: int) -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if int(_fields(int(folder.name))[1]) == process:
                found.add(int(folder.name))
    return found


def _fields(process: int) -> list[str]:
    """The fields of `stat` after the name: state, parent, and so on."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""

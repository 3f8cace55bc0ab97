"""`python -m index_store add | list | remove | search ...`: the index store from the command line.

With --json one object a line, each flushed as soon as it is known. The exit status is 0 only when all went well.
"""

import os
import sys
from collections.abc import Sequence

from index_store.base import errors
from index_store.base.settings import Settings
from index_store.command_line.arguments import parser
from index_store.command_line.output import Output
from index_store.store import IndexStore

INTERRUPTED = 130
"""exit status after Ctrl-C, as shells have it: 128 + SIGINT"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A file name may hold bytes that are no text; \udc80 is also how JSON writes it.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    out = Output(options.json, options.language or _language_of_environment())
    try:
        with IndexStore(Settings()) as store:
            all_well = options.run(store, options, out)
            sys.stdout.flush()
            return 0 if all_well else 1
    except errors.PlainError as error:
        return out.refusal(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who read has enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _language_of_environment() -> str:
    # In the order in which POSIX reads them.
    first = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "ja" if first.lower().startswith("ja") else "en"


if __name__ == "__main__":
    sys.exit(main())

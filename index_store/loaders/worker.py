"""The parser's process: reads a request a line, answers a line, until its standard input ends.

A file can crash, hang or swell a parser; this process is what it takes down. Not a sandbox: it limits memory and time,
not what native code that is taken over may do.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from index_store.errors import DocumentError, ParserFailed
from index_store.loaders import RawFile, loader_of

MEMORY = 2 * 1024**3
"""bytes of address space above what the libraries take: a 200 MB file with its text and trees fits"""

GRACE = 10
"""seconds after which the process ends itself, should the parent that keeps the time be gone"""


def main() -> None:
    # What libraries print must not get among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _limit_memory()
    for line in sys.stdin:
        request = json.loads(line)
        if hasattr(signal, "alarm"):
            signal.alarm(int(request["seconds"]) + GRACE)
        answers.write(json.dumps(_answer(request)) + "\n")
        answers.flush()
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _answer(request: dict[str, Any]) -> dict[str, object]:
    name = request["name"]
    try:
        loaded = loader_of(request["kind"]).load(RawFile(Path(request["path"]), name, request["charset"]))
    except DocumentError as error:
        return {"error": type(error).__name__, "details": error.details}
    except (MemoryError, RecursionError):
        return {"error": ParserFailed.__name__, "details": {"name": name}}
    return {"loaded": loaded.model_dump()}


def _limit_memory() -> None:
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()

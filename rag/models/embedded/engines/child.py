"""What the engines have in common: a child process that serves a GGUF file as OpenAI's endpoint on loopback.

`rag.models.embedded.process` starts it. The first line of stdin is the API key that callers must send, so that no other
user of the machine can use the model. It comes through stdin because other users can read arguments and environments of
processes. The address goes to stdout as one JSON line, the log to stderr. A closed stdin means that the parent is gone,
even if it was killed.
"""

import json
import os
import sys
from contextlib import suppress

CONTEXT = 4096
"""tokens per slot, question and answer together"""

SLOTS = 4
"""requests at the same time, each with the tokens that it remembers"""


def api_key() -> str:
    return sys.stdin.readline().strip()


def announce(address: str) -> None:
    with suppress(BrokenPipeError):  # the parent was killed while the model loaded
        print(json.dumps({"address": address}), flush=True)


def end_with_parent() -> None:
    """Waits for the end of the parent, then ends the process at once: nobody waits for a reply any more."""
    sys.stdin.read()
    os._exit(0)

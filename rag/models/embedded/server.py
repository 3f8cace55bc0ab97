"""The child process: serves a GGUF file as an OpenAI-compatible endpoint on loopback until its stdin closes.

    python -m rag.models.embedded.server MODEL.gguf        (started by rag.models.embedded.process, not by hand)

The first line of stdin is the API key that callers must send, so that no other user of the machine can use the model;
it comes that way because arguments and environments of processes can be read by others. The address goes to stdout as
one JSON line, llama.cpp's log to stderr. A closed stdin means that the parent is gone, even where it was killed.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import xllamacpp

from rag.models.embedded.engine import CONTEXT

# The figures behind these are in docs/decisions/embedded-chat-model.md.
SLOTS = 4
"""requests under way at once, each with a prefix cache of its own"""
BATCH = 128
"""tokens read in one go, for which a stream beside them, or a stop, has to wait"""
LOG_WARNINGS = 2
"""llama.cpp's verbosity: at 3 it writes ten lines a request, at 4 the prompts"""


def serve(model: Path, api_key: str) -> xllamacpp.Server:
    """The running server; it lives as long as the reference is kept."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [api_key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT * SLOTS
    params.n_batch = params.n_ubatch = BATCH
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = _cores()
    params.verbosity = LOG_WARNINGS
    return xllamacpp.Server(params)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    server = serve(Path(sys.argv[1]), api_key=sys.stdin.readline().strip())
    with suppress(BrokenPipeError):  # the parent was killed while the model was loaded
        print(json.dumps({"address": server.listening_address}), flush=True)
        sys.stdin.read()
    os._exit(0)  # llama.cpp's own shutdown waits for requests that nobody reads any more


if __name__ == "__main__":
    main()

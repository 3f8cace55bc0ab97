"""The child process: serves a GGUF file as an OpenAI-compatible endpoint on loopback until its stdin closes.

    python -m rag.models.embedded.engines.llama_cpp MODEL.gguf   (started by rag.models.embedded.process, not by hand)

The first line of stdin is the API key that callers must send, so that no other user of the machine can use the model.
It comes through stdin because other users can read arguments and environments of processes. The address goes to stdout
as one JSON line, llama.cpp's log to stderr. A closed stdin means that the parent is gone, even if it was killed.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import xllamacpp

from rag.models.embedded.engines.context import CONTEXT

# The figures for these are in docs/decisions/embedded-chat-model.md.
SLOTS = 4
"""requests at the same time, each with its own prefix cache"""
BATCH = 128
"""tokens read at once; other streams, and a stop, wait that long"""
LOG_WARNINGS = 2
"""llama.cpp's verbosity: 3 writes ten lines per request, 4 the prompts"""


def serve(model: Path, api_key: str) -> xllamacpp.Server:
    """The running server; it runs as long as the reference is kept."""
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
    with suppress(BrokenPipeError):  # the parent was killed while the model loaded
        print(json.dumps({"address": server.listening_address}), flush=True)
        sys.stdin.read()
    os._exit(0)  # llama.cpp's own shutdown waits for requests that nobody reads any more


if __name__ == "__main__":
    main()

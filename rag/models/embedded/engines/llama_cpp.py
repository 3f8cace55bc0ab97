"""The server of llama.cpp, for every GGUF file and every kind of processor (engines/child.py says how it serves).

python -m rag.models.embedded.engines.llama_cpp MODEL.gguf   (run by rag.models.embedded.process, not by hand)
"""

import sys
from pathlib import Path

import xllamacpp

from index_store.base.process.processor import cores
from rag.models.embedded.engines.child import CONTEXT, SLOTS, announce, api_key, end_with_parent

# The figures for these and for SLOTS are in docs/decisions/models/embedded-chat-model.md.
BATCH = 128
"""tokens read at once; other streams, and a stop, wait that long"""
LOG_WARNINGS = 2
"""llama.cpp's verbosity: 3 writes ten lines per request, 4 the prompts"""


def serve(model: Path, key: str) -> xllamacpp.Server:
    """The running server; it runs as long as the reference is kept."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT * SLOTS
    params.n_batch = params.n_ubatch = BATCH
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = cores()
    params.verbosity = LOG_WARNINGS
    return xllamacpp.Server(params)


def main() -> None:
    server = serve(Path(sys.argv[1]), api_key())
    announce(server.listening_address)
    end_with_parent()  # without llama.cpp's own shutdown, which waits for its requests


if __name__ == "__main__":
    main()

"""The child process: serves a GGUF file as an OpenAI-compatible endpoint on loopback until its stdin closes.

    python -m rag.models.embedded.engines.qwen2 MODEL.gguf       (started by rag.models.embedded.process, not by hand)

The graph must have been prepared. The first line of stdin is the API key that callers must send, so that no other
user of the machine can use the model. It comes through stdin because other users can read arguments and environments of
processes. The address goes to stdout as one JSON line, the log to stderr. A closed stdin means that the parent is gone,
even if it was killed.
"""

import asyncio
import json
import os
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import uvicorn

from rag.models.embedded.engines.context import CONTEXT
from rag.models.embedded.engines.qwen2.app import ChatApp
from rag.models.embedded.engines.qwen2.network import Network
from rag.models.embedded.engines.qwen2.prepared import read
from rag.models.embedded.engines.qwen2.slots import Slots
from rag.models.embedded.engines.qwen2.tokenizer import PromptTokenizer
from rag.models.embedded.engines.qwen2.turns import Job, Turns

SLOTS = 4
"""prompts that are remembered, and replies that are written side by side"""


def main() -> None:
    model = Path(sys.argv[1])
    api_key = sys.stdin.readline().strip()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    parts = read(model)
    if parts is None:
        sys.exit(f"There is no graph for {model}. Run `python -m rag.models.embedded.fetch`.")
    with ThreadPoolExecutor(1) as beside:  # the network takes a second, mostly outside Python
        network = beside.submit(Network, parts.graph, parts.sizes, _cores(), CONTEXT)
        tokenizer = PromptTokenizer(parts.tokenizer)
        turns = Turns(Slots(network.result(), SLOTS))
    turns.add(Job([0], 1, frozenset(), lambda _: None))  # with its first token, the network arranges its weights
    chat = ChatApp(model.stem, tokenizer, turns, CONTEXT, api_key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with suppress(BrokenPipeError):  # the parent was killed while the model loaded
            print(json.dumps({"address": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
        server = uvicorn.Server(uvicorn.Config(chat.routes, log_level="warning", access_log=False, lifespan="off"))
        asyncio.run(server.serve([listening]))


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)  # nobody waits for a reply any more


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main()

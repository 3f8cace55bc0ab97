"""The server of the graph, which must have been prepared (engines/child.py says how it serves).

python -m rag.models.embedded.engines.qwen2 MODEL.gguf       (run by rag.models.embedded.process, not by hand)
"""

import asyncio
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import uvicorn

from index_store.base.process.processor import cores
from rag.models.embedded.engines.child import CONTEXT, SLOTS, announce, api_key, end_with_parent
from rag.models.embedded.engines.qwen2.app import ChatApp
from rag.models.embedded.engines.qwen2.network import Network
from rag.models.embedded.engines.qwen2.prepared import read
from rag.models.embedded.engines.qwen2.slots import Slots
from rag.models.embedded.engines.qwen2.tokenizer import PromptTokenizer
from rag.models.embedded.engines.qwen2.turns import Job, Turns


def main() -> None:
    model = Path(sys.argv[1])
    key = api_key()
    threading.Thread(target=end_with_parent, daemon=True).start()
    parts = read(model)
    if parts is None:
        sys.exit(f"There is no graph for {model}. Run `python -m rag.models.embedded.fetch`.")
    with ThreadPoolExecutor(1) as beside:  # the network takes a second, mostly outside Python
        network = beside.submit(Network, parts.graph, parts.sizes, cores(), CONTEXT)
        tokenizer = PromptTokenizer(parts.tokenizer)
        turns = Turns(Slots(network.result(), SLOTS))
    turns.add(Job([0], 1, frozenset(), lambda _: None))  # with its first token, the network arranges its weights
    chat = ChatApp(model.stem, tokenizer, turns, CONTEXT, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        announce(f"http://127.0.0.1:{listening.getsockname()[1]}")
        server = uvicorn.Server(uvicorn.Config(chat.routes, log_level="warning", access_log=False, lifespan="off"))
        asyncio.run(server.serve([listening]))


if __name__ == "__main__":
    main()

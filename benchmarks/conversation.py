"""How long the chat page takes to redraw a conversation: one of a hundred turns compared with one of five.

    python -m benchmarks.conversation [--rounds 20] [--turns 100]

One question about the sample documents is asked through Self-RAG with a scripted server. Its run is copied into both
conversations, once per turn. Then the page's script runs as after a click, for both in turn. Not measured: the browser,
which draws the changes.
"""

import argparse
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from streamlit.testing.v1 import AppTest

from index_store.access.principal import LOCAL
from index_store.ingestion.sources import FileSource
from pages import samples
from pages.server.process import close_engine, engine, whole_engine
from rag.runs.history.history import History
from rag.trace.events import Event, RunStarted
from tests.servers import OpenAIServer

FEW = 5
QUESTION = "How many characters must a company password have at least?"
PAGE = Path(__file__).parent.parent / "pages" / "index.py"
TIMEOUT = 60
"""seconds for one redraw"""


def asked_once() -> list[Event]:
    """The events of a run over the samples, which are loaded first."""
    files = [FileSource(path, path.name) for path in samples.documents()]
    engine().store.ingest(samples.INDEX, files).wait()
    run = engine().ask(QUESTION, index=samples.INDEX, pipeline_name="self_rag")
    run.result()
    return engine().history.events(run.id)


def conversation(history: History, events: list[Event], turns: int) -> str:
    """Creates a conversation whose turns all have these events; returns its id."""
    conversation_id = history.conversations.new(f"{turns} turns", principal=LOCAL).id
    before = ""
    for number in range(turns):
        run_id = uuid.uuid4().hex
        for event in events:
            if isinstance(event, RunStarted):
                changes = {"run_id": run_id, "conversation_id": conversation_id, "at": time.time() + number}
                event = event.model_copy(update={**changes, "follows": before})
            history.save(run_id, event)
        before = run_id
    return conversation_id


def opened(conversation_id: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=TIMEOUT)
    page.query_params["c"] = conversation_id
    page.run()
    return page


def redraw(page: AppTest) -> float:
    """Returns seconds."""
    begun = time.perf_counter()
    page.run()
    if page.exception:
        raise SystemExit(page.exception[0].message)
    return time.perf_counter() - begun


def measure(turns: int, rounds: int) -> None:
    events = asked_once()
    pages = {each: opened(conversation(whole_engine().history, events, each)) for each in (FEW, turns)}
    times: dict[int, list[float]] = {each: [] for each in pages}
    for _ in range(rounds):
        for each, page in pages.items():
            times[each].append(redraw(page))
    medians = {each: statistics.median(some) for each, some in times.items()}
    for each, median in medians.items():
        shown = sum('class="answer"' in html.value for html in pages[each].html)
        print(f"{each} turns: {median * 1000:.0f} ms a redraw, median of {rounds}; {shown} answers drawn")
    print(f"{turns} turns take {medians[turns] / medians[FEW]:.2f} times as long as {FEW}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=100)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, OpenAIServer() as server:
        server.answer_when(lambda request: request.schema is not None, '{"reason": "", "verdict": "yes", "score": 0.9}')
        server.default = "At least 14 characters [1]. The portal refuses others [2]."
        os.environ |= {
            "DATA_DIR": folder,
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-benchmark",
            "CHAT_MODEL": "test-chat",
            "EMBEDDING_MODEL": "test-embedding",
        }
        try:
            measure(given.turns, given.rounds)
        finally:
            close_engine()


if __name__ == "__main__":
    main()

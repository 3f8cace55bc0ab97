"""How long pages take, each beside a lighter one of its kind in the same run.

    python -m benchmarks.ui [--rounds 15] [--runs 100000]

runs page: it opens over 100,000 stored runs, and over 100, by turns of a few redraws. Their rows are written at once,
without events, of which the page reads none. Not measured: the browser, which draws 50 rows either way.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.process import close_engine, engine
from rag.runs import schema
from tests.servers import OpenAIServer

FEW = 100
MOST = 1.5
"""what the page over many may take beside the one over few"""
PAGE = Path(__file__).parent.parent / "pages" / "index.py"


def store(count: int) -> None:
    """So many runs that are over, of several kinds."""
    conversation = engine().history.new_conversation("Many").id
    outcomes = ("confirmed", "answered", "unconfirmed", "not_in_documents")
    rows = [
        {
            "id": f"{number:032x}", "conversation_id": conversation, "question": f"Who approves expense {number}?",
            "index_name": f"index {number % 5}", "pipeline": ("naive", "hybrid", "self_rag")[number % 3],
            "started_at": 1_700_000_000.0 + number, "status": "finished", "feedback": -1 if number % 50 == 0 else None,
            "seconds": number % 977 / 10, "tokens": number % 4999, "model_calls": number % 9,
            "outcome": outcomes[number % 4], "cause": "misread" if number % 4 == 2 else "none",
        }
        for number in range(count)
    ]  # fmt: skip
    with engine().history.database.begin() as connection:
        connection.execute(schema.runs.insert(), rows)


def openings(rounds: int) -> list[float]:
    """Seconds, of each; the first of all, which imports, is left out."""
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.run()
    page.switch_page("runs.py")
    page.run()
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        page.run()
        seconds.append(time.perf_counter() - begun)
        if page.exception or len(page.dataframe) != 1:
            raise SystemExit("The Runs page did not open")
    return seconds


def measure(many: int, rounds: int, folder: Path) -> None:
    times: dict[int, list[float]] = {FEW: [], many: []}
    for part in range(6):
        count = (FEW, many)[part % 2]
        os.environ["DATA_DIR"] = str(folder / str(count))
        if part < 2:
            store(count)
        times[count] += openings(max(1, rounds // 3))
        close_engine()
    medians = {count: statistics.median(some) for count, some in times.items()}
    for count, median in medians.items():
        print(f"runs page over {count} runs: {median * 1000:.0f} ms")
    ratio = medians[many] / medians[FEW]
    print(f"{many} runs take {ratio:.2f} times as long as {FEW} (at most {MOST})")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=100_000)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, OpenAIServer() as server:
        os.environ |= {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-benchmark",
            "CHAT_MODEL": "test-chat",
            "EMBEDDING_MODEL": "test-embedding",
        }
        try:
            measure(given.runs, given.rounds, Path(folder))
        finally:
            close_engine()


if __name__ == "__main__":
    main()

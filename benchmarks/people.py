"""How long people wait who ask at the same time, and how the app's memory develops while people come and go.

    python -m benchmarks.people [--people 1 5 20 50] [--rounds 3]
    python -m benchmarks.people --churn SECONDS [--seed 1]

The app runs as in `make run`, in another process; the model is a server of fixed cost in a third one. Each person is a
tab that speaks Streamlit's own WebSocket protocol (`parts/tab.py`). All open the chat page, ask the default pipeline
one question at the same time, and watch the page until their answers are there. Then they leave.

With `--churn`, five people ask, press buttons, change pages, lose their connection and come back, at random from a
seed. The result is the app's memory at the end compared with that after ten minutes (or after half of a shorter time).

Linux only: processor time and memory are read from /proc. Memory is resident memory.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.latency import KEY, MODEL, QUESTION
from benchmarks.parts.child import serving
from benchmarks.parts.fixed_speed import Speed, serve
from benchmarks.parts.machine import Machine, processor_seconds_of
from benchmarks.parts.tab import Tab, opened
from pages import samples
from rag.settings import Settings
from tests.browser.app_process import App

PEOPLE = (1, 5, 20, 50)
LATE = 0.95
"""the p95: this part of the waits is not longer"""
MOST_LATE = 1.3
"""largest p95 of an answer with TWENTY people, as a multiple of that of one person"""
TWENTY = 20
MOST_REFRESH = 0.2
"""largest median of a refresh in seconds"""

CHURNING = 5
"""people"""
SETTLED = 600
"""seconds of churn after which memory should no longer grow"""
MOST_GROWTH = 1.15
LOOK = 5
"""seconds between two reads of the memory"""
LONGEST_PAUSE = 2
"""longest pause in seconds between two acts of a person"""

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Measured:
    """All rounds with this number of people."""

    people: int
    answers: list[float]
    """seconds from question to answer, for each"""
    refreshes: list[float]
    """seconds of each refresh"""
    processor: float
    """processor seconds of the app per answer"""
    memory: float
    """megabytes of the app, after the last round"""


def loaded(folder: Path, documents: int | None) -> Path:
    """A data folder with `documents` samples (None: all), and the available models."""
    data = folder / "data"
    data.mkdir(parents=True)
    models = Settings().data_dir / "models"
    if models.exists():
        (data / "models").symlink_to(models.resolve())
    embedded = {"DATA_DIR": str(data), "EMBEDDING_MODEL": "embedded"}
    files = map(str, samples.documents()[:documents])
    add = [sys.executable, "-m", "index_store", "add", "--index", samples.INDEX, *files]
    subprocess.run(add, env=os.environ | embedded, check=True, stdout=subprocess.DEVNULL)
    return data


@contextmanager
def running(folder: Path, speed: Speed, documents: int | None, script: str = "app.py") -> Iterator[App]:
    """The app, with `documents` samples (None: all) and the model server."""
    embedded = {"DATA_DIR": str(loaded(folder, documents)), "EMBEDDING_MODEL": "embedded"}
    with serving(serve, speed) as base_url:
        service = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": KEY, "CHAT_MODEL": MODEL, "WEB_SEARCH": "off"}
        app = App(folder, script, **embedded, **service)
        app.start()
        try:
            yield app
        finally:
            app.stop()


def processor_seconds(app: App) -> float:
    """Processor seconds of the app so far."""
    return processor_seconds_of(str(app.pid))


def memory(app: App) -> float:
    """Memory of the app in megabytes."""
    pages = int(Path(f"/proc/{app.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


async def ask(tab: Tab) -> float:
    """Returns seconds."""
    begun = time.perf_counter()
    await tab.type(QUESTION)
    await tab.read_answer()
    return time.perf_counter() - begun


async def ask_at_once(app: App, people: int) -> tuple[list[float], list[float]]:
    """Seconds of each answer, and of each refresh."""
    tabs = [Tab(app.url) for _ in range(people)]
    try:
        await asyncio.gather(*(tab.open() for tab in tabs))
        answers = await asyncio.gather(*map(ask, tabs))
    finally:
        await asyncio.gather(*(tab.leave() for tab in tabs))
    return answers, [seconds for tab in tabs for seconds in tab.refreshes]


async def measure(app: App, people: int, rounds: int) -> Measured:
    answers: list[float] = []
    refreshes: list[float] = []
    begun = processor_seconds(app)
    for _ in range(rounds):
        waited, refreshed = await ask_at_once(app, people)
        answers += waited
        refreshes += refreshed
    return Measured(people, answers, refreshes, (processor_seconds(app) - begun) / len(answers), memory(app))


async def measure_all(app: App, people: Sequence[int], rounds: int) -> list[Measured]:
    await ask_at_once(app, 1)  # also opens files and connections
    measured = []
    for each in people:
        measured.append(await measure(app, each, rounds))
        print(row(measured[-1], measured[0]), file=sys.stderr, flush=True)
    return measured


def late(seconds: Sequence[float]) -> float:
    """The p95."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * LATE))]


def row(of: Measured, one: Measured) -> str:
    typical, latest = statistics.median(of.answers), late(of.answers)
    alone = statistics.median(one.answers)
    refreshes = (statistics.median(of.refreshes), late(of.refreshes))
    return (
        f"| {of.people} | {typical:.2f} | {latest:.2f} | {typical / alone:.2f} | {latest / alone:.2f} "
        f"| {refreshes[0] * 1000:.0f} | {refreshes[1] * 1000:.0f} | {of.processor:.2f} | {of.memory:.0f} |"
    )


def report(measured: Sequence[Measured]) -> str:
    one = measured[0]
    lines = [
        f"| people | answer p50, s | p95, s | p50 beside {one.people} | p95 beside {one.people} | refresh p50, ms "
        "| p95, ms | processor, s an answer | memory, MB |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(row(each, one) for each in measured),
        "",
    ]
    for each in measured:
        if each.people == TWENTY and one.people == 1:
            ratio = late(each.answers) / statistics.median(one.answers)
            refresh = statistics.median(each.refreshes)
            lines.append(f"At {TWENTY} the p95 of an answer {_met(ratio, MOST_LATE)}: {ratio:.2f} of one person's.")
            lines.append(f"At {TWENTY} a refresh p50 {_met(refresh, MOST_REFRESH)}: {refresh:.3f} s.")
    return "\n".join(lines)


def _met(measured: float, most: float) -> str:
    return f"{'meets' if measured <= most else 'misses'} {most}"


class Person:
    """Does one act after another, each chosen at random."""

    def __init__(self, url: str, chance: random.Random) -> None:
        self._url = url
        self._chance = chance
        self.asked = 0

    async def live(self, end: float) -> None:
        """Acts until `end` (clock `time.monotonic`)."""
        while time.monotonic() < end:
            async with opened(self._url) as tab:
                while time.monotonic() < end and self._chance.random() > 0.1:
                    await self._act(tab)
                    await asyncio.sleep(self._chance.uniform(0, LONGEST_PAUSE))

    async def _act(self, tab: Tab) -> None:
        suggestions = [key for key in tab.page.buttons if key.startswith("suggestion-")]
        others = [key for key in tab.page.buttons if key.startswith("open-")]
        can_ask = bool(tab.page.composer) and not tab.page.is_busy
        weights = {
            "go": 3,
            "reconnect": 1,
            "ask": 4 * can_ask,
            "suggestion": 3 * (can_ask and bool(suggestions)),
            "open": 2 * bool(others),
            "new": 2 * ("new-chat" in tab.page.buttons),
        }
        act = self._chance.choices(list(weights), list(weights.values()))[0]
        if act == "go":
            await tab.go(self._chance.randrange(len(tab.page.links)))
        elif act == "reconnect":
            await tab.leave()
            await tab.open()
        elif act == "open":
            await tab.press(self._chance.choice(others))
        elif act == "new":
            await tab.press("new-chat")
        else:
            self.asked += 1
            if act == "ask":
                await tab.type(QUESTION)
            else:
                await tab.press(self._chance.choice(suggestions))
            if self._chance.random() < 0.8:  # the others do not wait for the answer
                await tab.read_answer()


async def churn(app: App, seconds: float, seed: int) -> str:
    people = [Person(app.url, random.Random(f"{seed} {number}")) for number in range(CHURNING)]
    begun = time.monotonic()
    settled = min(SETTLED, seconds / 2)
    looks: list[tuple[float, float]] = []
    async with asyncio.TaskGroup() as group:
        for person in people:
            group.create_task(person.live(begun + seconds))
        while (now := time.monotonic() - begun) < seconds:
            looks.append((now, memory(app)))
            if len(looks) % 12 == 1:
                asked = sum(person.asked for person in people)
                print(f"{now:.0f} s: {looks[-1][1]:.0f} MB, {asked} questions", file=sys.stderr, flush=True)
            await asyncio.sleep(min(LOOK, seconds / 20))
    asked = sum(person.asked for person in people)
    first = statistics.median(used for at, used in looks if abs(at - settled) <= seconds / 20)
    last = statistics.median(used for at, used in looks if at >= seconds * 0.95)
    return (
        f"{CHURNING} people for {seconds:.0f} s, seed {seed}, {asked} questions: {first:.0f} MB after {settled:.0f} s, "
        f"{last:.0f} MB at the end, {last / first:.2f} times as much, which {_met(last / first, MOST_GROWTH)}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=PEOPLE, help="who ask at once; beside the first")
    parser.add_argument("--rounds", type=int, default=3, help="in each of which all of them ask once")
    parser.add_argument("--churn", type=float, metavar="SECONDS", help="people who come and go instead")
    parser.add_argument("--documents", type=int, help="of the sample handbook, in the index; all of them")
    parser.add_argument("--seed", type=int, default=1, help="of the churn")
    Speed.add_options(parser, Speed(delay=0.5, token_seconds=0.02, tokens=60))
    options = parser.parse_args(arguments)
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    machine = Machine()
    speed = Speed.of(options)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), speed, options.documents) as app:
        if options.churn:
            print(asyncio.run(churn(app, options.churn, options.seed)))
        else:
            print(report(asyncio.run(measure_all(app, options.people, options.rounds))))
    print(f"\n{speed} {machine}")


if __name__ == "__main__":
    main()

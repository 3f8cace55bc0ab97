"""How many people two apps can serve compared with one: the p95 of their answers when all ask at the same time.

Apps, tabs, Postgres, Chroma and the model share this machine's cores. Each app may run only for a part of the time, as
if its processor were slower, so that the apps are the bottleneck. People use the apps directly, in turn; the cost of a
load balancer is not included.
"""

import asyncio
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.latency import KEY, MODEL
from benchmarks.parts.child import running, serving
from benchmarks.parts.fixed_speed import Speed, serve
from benchmarks.parts.machine import processor_seconds_of
from benchmarks.parts.tab import PageFailed, Tab
from benchmarks.people import ask, late
from pages import samples
from tests.browser.app_process import ROOT, App
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer

PERIOD = 0.05
"""seconds; an app may run for a part of each period"""

AT_ONCE = "400"
"""runs: nobody waits for a turn, only for the apps' processors"""


LEAST = 1.8
"""times the people of one app, at the same p95: the project's target"""


@dataclass
class Asked:
    """All rounds with this number of people; each person asks once per round."""

    apps: int
    people: int
    answers: list[float] = field(default_factory=list)
    """seconds of each answer"""
    processor: float = 0
    """processor seconds of both apps"""
    around: float = 0
    """the same for the tabs and Chroma"""

    @property
    def p95(self) -> float:
        return late(self.answers)

    def __str__(self) -> str:
        typical = statistics.median(self.answers)
        return (
            f"| {self.apps} | {self.people} | {typical:.2f} | {self.p95:.2f} "
            f"| {self.processor / len(self.answers):.2f} | {self.around / len(self.answers):.2f} |"
        )


def measure(folder: Path, speed: Speed, share: float, people: Sequence[int], rounds: int) -> list[Asked]:
    """Measures one app and two with each of these numbers of people, and two with 1.8 times as many. They take turns,
    so that other work on the machine affects all alike. Both apps run all the time: an idle one needs almost nothing.
    """
    many = sorted({*people, *(round(LEAST * each) for each in people if each > 1)})
    cells = {(1, number): Asked(1, number) for number in people} | {(2, number): Asked(2, number) for number in many}
    with started(folder, speed) as (apps, others):
        asyncio.run(ask_all(apps, 2 * len(apps)))  # also opens files and connections
        with slowed(apps, share):
            for _ in range(rounds):
                for cell in sorted(cells.values(), key=lambda each: (each.people, each.apps)):
                    ask_once(cell, apps, others)
                    print(cell, file=sys.stderr, flush=True)
    return [cells[cell] for cell in sorted(cells)]


def ask_once(cell: Asked, apps: Sequence[App], others: Sequence[int]) -> None:
    own = [app.pid for app in apps]
    before = _processor(own), _processor(others) + time.process_time()
    cell.answers += asyncio.run(ask_all(apps[: cell.apps], cell.people))
    cell.processor += _processor(own) - before[0]
    cell.around += _processor(others) + time.process_time() - before[1]


async def ask_all(apps: Sequence[App], people: int) -> list[float]:
    """Seconds of each answer; infinite if the page failed."""
    tabs = [Tab(apps[number % len(apps)].url) for number in range(people)]
    try:
        await asyncio.gather(*(tab.open() for tab in tabs))
        return list(await asyncio.gather(*map(_ask, tabs)))
    finally:
        await asyncio.gather(*(tab.leave() for tab in tabs))


async def _ask(tab: Tab) -> float:
    try:
        return await ask(tab)
    except PageFailed:
        return math.inf


@contextmanager
def started(folder: Path, speed: Speed) -> Iterator[tuple[list[App], list[int]]]:
    """Two apps that share an index of the samples, and the process id of Chroma."""
    data = folder / "data"
    data.mkdir(parents=True, mode=0o700)
    with ExitStack() as open_:
        postgres, chroma = open_.enter_context(PostgresServer()), open_.enter_context(ChromaServer())
        settings = {
            "DATA_DIR": str(data), "DATABASE_URL": postgres.new_database(), "CHROMA_URL": chroma.url,
            "OPENAI_BASE_URL": open_.enter_context(serving(serve, speed)), "OPENAI_API_KEY": KEY, "CHAT_MODEL": MODEL,
            "EMBEDDING_MODEL": "test-embedding", "WEB_SEARCH": "off", "RUNS_AT_ONCE": AT_ONCE, "CALLS_AT_ONCE": "2000",
            "WORKERS": "here",
        }  # fmt: skip
        files = map(str, samples.documents()[:1])
        add = [sys.executable, "-m", "index_store", "add", "--index", samples.INDEX, *files]
        subprocess.run(add, cwd=ROOT, env=os.environ | settings, check=True, stdout=subprocess.DEVNULL)
        apps = []
        for number in range(2):
            (folder / f"{number}").mkdir()
            apps.append(App(folder / f"{number}", **settings))
            apps[-1].start()
            open_.callback(apps[-1].stop)
        yield apps, [each for each in (chroma.pid,) if each]


@contextmanager
def slowed(apps: Sequence[App], share: float) -> Iterator[None]:
    """The apps do not run at the same moment: one core is left for the services that they use."""
    with ExitStack() as slowed_:
        for number, app in enumerate(apps):
            slowed_.enter_context(running(let_run, app.pid, share, number / len(apps)))
        yield


def let_run(pipe: Connection, process: int, share: float, phase: float) -> None:
    """Lets `process` run for `share` of each period, until the other end is closed. `phase`: when that begins, as a
    part of a period.
    """
    try:
        while share < 1:
            now = time.time() / PERIOD - phase
            os.kill(process, signal.SIGCONT)
            if pipe.poll(PERIOD * max(0.0, share - now % 1)):
                return
            os.kill(process, signal.SIGSTOP)
            time.sleep(PERIOD * (1 - (time.time() / PERIOD - phase) % 1))
    finally:
        os.kill(process, signal.SIGCONT)


def _processor(processes: Sequence[int | None]) -> float:
    return sum(processor_seconds_of(str(each)) for each in processes)


def held(measured: Sequence[Asked]) -> Iterator[str]:
    """For each number of people: how many people two apps serve at the same p95 as one app with this number."""
    two = sorted((each.people, each.p95) for each in measured if each.apps == 2)
    for one in measured:
        if one.apps == 2 or one.people == 1 or math.isinf(one.p95):
            continue
        within = [(people, p95) for people, p95 in two if p95 <= one.p95]
        if not within:
            yield f"Two apps are slower with {two[0][0]} people than one with {one.people}."
            continue
        people, p95 = within[-1]
        above = next(((more, later) for more, later in two if later > one.p95), None)
        if above:  # between two measured points, on a straight line
            people += (above[0] - people) * (one.p95 - p95) / (above[1] - p95)
        times = people / one.people
        many = f"{'' if above else 'at least '}{people:.0f}"
        met = f"{LEAST:g} {'met' if times >= LEAST else 'missed'}"
        yield f"Two hold {many} at the p95 of one with {one.people}: {times:.2f} times, {met}."

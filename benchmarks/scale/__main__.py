"""How the setup for several machines performs as it grows: Postgres, Chroma's server and apps, all on this machine.

    python -m benchmarks.scale [PART ...] [--keep DIR] [--data DIR] [--chunks 100000 1000000] [--questions 200]

    fill     a store of each size: real sentences in random order, and seeded vectors with realistic distances
    search   p50 and p95 by vector, by keyword and by both; memory of each part, and disk
    add      chunks per second that are added to these
    ask      1, 20 and 100 people with one app and with two, on a model of fixed cost

The data in --data is that of search_quality.py; without it, all is made from the sample handbook. With --keep the
stores stay there: parts can be run one by one, and an interrupted filling continues. The same --seed makes the same
data.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path

from benchmarks.parts.fixed_speed import Speed
from benchmarks.parts.machine import Machine
from benchmarks.parts.recombined import Texts, made_up, real
from benchmarks.scale import adding, asking
from benchmarks.scale.filled import fill, serving
from benchmarks.scale.made import MadeLibrary
from benchmarks.scale.searching import Searched, search
from benchmarks.search_speed import SEARCHES, K

PARTS = ("fill", "search", "add", "ask")

MOST_GROWTH = 4.0
"""largest p95 of a hybrid search, as a multiple of that at the size before: the project's target"""


def grown(given: argparse.Namespace, parts: Sequence[str], texts: Texts, folder: Path) -> None:
    sizes = sorted(given.chunks)
    if "fill" in parts:
        for chunks in sizes:
            with serving(folder / f"{chunks}") as store:
                fill(store, MadeLibrary(texts, chunks, given.seed))
    if set(parts) & {"search", "add"}:
        with ExitStack() as open_:
            stores = [open_.enter_context(serving(folder / f"{chunks}")) for chunks in sizes]
            if "search" in parts:
                print(report(search(stores, texts.questions)), flush=True)
            if "add" in parts:
                for chunks, store in zip(sizes, stores, strict=True):
                    print(f"{adding.measure(store, texts, given.add, given.seed)} beside {chunks}", flush=True)


def report(found: Sequence[Searched]) -> str:
    lines = ["| | " + " | ".join(f"{each.chunks} chunks" for each in found) + " |", "|---|" + "--:|" * len(found)]
    for name in SEARCHES:
        cells = (f"{each.p(name, 50):.1f}, {each.p(name, 95):.1f}" for each in found)
        lines.append(f"| {name}, ms at p50 and p95 | {' | '.join(cells)} |")
    lines.append("| processor, ms a search | " + " | ".join(f"{each.processor:.1f}" for each in found) + " |")
    lines.append("| first by vector after the start, s | " + " | ".join(f"{each.first:.1f}" for each in found) + " |")
    for part in found[0].memory:
        lines.append(f"| memory: {part}, MB | " + " | ".join(f"{each.memory[part]:.0f}" for each in found) + " |")
    for part in found[0].disk:
        lines.append(f"| disk: {part}, MB | " + " | ".join(f"{each.disk[part]:.1f}" for each in found) + " |")
    if len(found) > 1:
        growth = found[-1].p("hybrid", 95) / found[0].p("hybrid", 95)
        met = "met" if growth <= MOST_GROWTH else "missed"
        lines += ["", f"hybrid p95 grows to {growth:.2f} times, at most {MOST_GROWTH:g}: {met}."]
    return "\n".join(lines)


def asked(given: argparse.Namespace, folder: Path) -> None:
    measured = asking.measure(folder, Speed.of(given), given.share, given.people, given.rounds)
    print("| apps | people | answer p50, s | p95, s | processor of apps, s an answer | of tabs and Chroma |")
    print("|--:|--:|--:|--:|--:|--:|")
    print(*measured, sep="\n")
    print("", *asking.held(measured), sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them")
    parser.add_argument(
        "--keep", type=Path, help="for the stores, where every account may go; else they go with the run"
    )
    parser.add_argument("--data", type=Path, help="the folder with qa/jsquad; else samples, recombined")
    parser.add_argument("--chunks", type=int, nargs="+", default=[100_000, 1_000_000], help="of each store")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--add", type=int, default=2000, help="chunks that are added")
    parser.add_argument("--people", type=int, nargs="+", default=[1, 20, 100], help="who ask at once")
    parser.add_argument("--rounds", type=int, default=2, help="in each of which all of them ask once")
    parser.add_argument("--share", type=float, default=1 / 3, help="of a core that each app has")
    parser.add_argument("--seed", type=int, default=1)
    Speed.add_options(parser, Speed(delay=0.5, token_seconds=0.02, tokens=60))
    given = parser.parse_args(arguments)
    parts = given.parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    machine = Machine()
    texts = real(given.data, given.questions) if given.data else made_up(given.questions)
    with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)  # Postgres may run as another account
        if set(parts) - {"ask"}:
            grown(given, parts, texts, folder)
        if "ask" in parts:
            with tempfile.TemporaryDirectory() as own:
                asked(given, Path(own))
    details = f"{K} hits; questions: {len(texts.questions)}; {texts.origin}, seed {given.seed}."
    print(f"\n{details} {Speed.of(given)} {machine}", file=sys.stdout)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # also ends all that it has started
    main()

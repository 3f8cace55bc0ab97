"""How fast the pages are in a real Chromium, each part compared with something in the same run.

    python -m benchmarks.ui [PART ...] [--rounds 5]

The app runs as in `make run`, in another process; the model is a server of fixed cost in a third one. The docstring of
each module says what its part measures. Linux only: processor time is read from /proc.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.parts.fixed_speed import Speed
from benchmarks.parts.machine import Machine
from benchmarks.people import running
from benchmarks.ui import columns, first_sign, first_token, runs_page, trace
from benchmarks.ui.browser import SERVED
from tests.browser.app_process import App
from tests.browser.conftest import ARGUMENTS, installed_chromium

ANSWERING: dict[str, Callable[[Browser, App, int], str]] = {
    "first_token": first_token.measure,
    "trace": trace.measure,
    "columns": columns.measure,
}
"""parts that ask questions of the samples"""

RUNS_PAGE = "runs_page"
FIRST_SIGN = "first_sign"
PARTS = (*ANSWERING, RUNS_PAGE, FIRST_SIGN)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, help="of the sample handbook, in the index; all of them")
    parser.add_argument("--runs", type=int, default=100_000, help=f"that are stored, in {RUNS_PAGE}")
    Speed.add_options(parser, Speed(delay=0.5, token_seconds=0.02, tokens=60))
    options = parser.parse_args(arguments)
    parts = options.parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    machine, speed = Machine(), Speed.of(options)
    with ExitStack() as open_, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ARGUMENTS)
        folder = Path(open_.enter_context(tempfile.TemporaryDirectory()))
        if answering := [name for name in parts if name in ANSWERING]:
            with running(folder, speed, options.documents, script=SERVED) as app:
                for name in answering:
                    print(f"{ANSWERING[name](browser, app, options.rounds)}\n", flush=True)
        if RUNS_PAGE in parts:
            print(f"{runs_page.measure(browser, folder, options.rounds, options.runs)}\n", flush=True)
        if FIRST_SIGN in parts:
            print(f"{first_sign.measure(browser, folder, options.rounds, options.documents)}\n", flush=True)
        browser.close()
    print(f"Medians, rounds: {options.rounds}. {speed} {machine}")


if __name__ == "__main__":
    main()

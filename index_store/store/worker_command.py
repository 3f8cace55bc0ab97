"""`python -m index_store worker`."""

import argparse
import signal
import threading

from index_store.base.command_line.commands import Output
from index_store.base.settings.settings import Settings
from index_store.store.index_store import working


def work(_: argparse.Namespace, out: Output) -> bool:
    """Runs until Ctrl-C or a signal ends it."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with working(Settings()):
        out.line({"status": "working"}, "working")
        ended.wait()
    return True

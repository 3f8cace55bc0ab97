"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable

PATIENCE = 60
"""seconds to wait for something that normally takes milliseconds"""


def eventually(is_so: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """True if `is_so` becomes true within `seconds`; calls it often."""
    end = time.monotonic() + seconds
    while not (so := is_so()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(so)

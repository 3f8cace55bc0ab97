"""What a benchmark ran on, for the last line of its report."""

import os
import platform
import sys


class Machine:
    """Made before the measuring begins, and told after it."""

    def __init__(self) -> None:
        self._load = os.getloadavg()[0]

    def __str__(self) -> str:
        return (
            f"{os.cpu_count()} cores, Python {platform.python_version()}, {sys.platform}, "
            f"load average {self._load:.1f} before and {os.getloadavg()[0]:.1f} after."
        )

"""The machine of a benchmark, for the last line of its report, and the processor time and memory of a process."""

import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path


class Machine:
    """Create it before the measurement and print it after that."""

    def __init__(self) -> None:
        self._load = os.getloadavg()[0]

    def __str__(self) -> str:
        return (
            f"{os.cpu_count()} cores, Python {platform.python_version()}, {sys.platform}, "
            f"load average {self._load:.1f} before and {os.getloadavg()[0]:.1f} after."
        )


def processor_seconds_of(process: str) -> float:
    """Processor seconds of the process with this id, all threads included. Raises OSError if it has
    ended. Linux only.
    """
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(processes: Iterable[int]) -> float:
    """MB of these processes; a page that several share is counted once. Raises OSError. Linux only."""
    rollups = (Path(f"/proc/{each}/smaps_rollup").read_text() for each in processes)
    return sum(int(line.split()[1]) for text in rollups for line in text.splitlines() if line.startswith("Pss:")) / 1024

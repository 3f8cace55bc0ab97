"""How many processors this process may use."""

import math
import os
from contextlib import suppress
from pathlib import Path

THREADS = "OMP_NUM_THREADS"
"""the variable of every OpenMP: how many threads one computation may use. A list has numbers for computations within it
too."""

CGROUP = Path("/sys/fs/cgroup")
"""where Linux tells a container its limits"""


def cores(cgroup: Path = CGROUP) -> int:
    """As many as the operator says; else those that it may run on, or fewer in a container with less of their time."""
    asked = os.environ.get(THREADS, "").split(",")[0].strip()
    if asked.isdecimal() and int(asked):
        return int(asked)
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(here, _share(cgroup))))


def _share(cgroup: Path) -> float:
    """The processors' time that a container may take, in processors."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # there is no such file; or it says "max"
            quota, period = (float(each) for file in files for each in (cgroup / file).read_text().split())
            return quota / period if quota > 0 else math.inf
    return math.inf

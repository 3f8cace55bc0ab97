"""What this process may use of the machine's processors, and what they can do."""

import logging
import math
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

THREADS = "OMP_NUM_THREADS"
"""the variable of every OpenMP: how many threads one computation may use. A list has numbers for computations within it
too."""

CGROUP = Path("/sys/fs/cgroup")
"""where Linux tells a container its limits"""

DESCRIBED = Path("/proc/cpuinfo")
"""where Linux describes the processors"""

BYTE_PRODUCTS = frozenset({"avx512_vnni", "avx_vnni"})
"""Linux's names for the instructions for dot products of bytes"""


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


def instructions(described: Path = DESCRIBED) -> frozenset[str]:
    """Linux's names for the sets of instructions that an x86 processor has; empty elsewhere."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return frozenset()
    try:
        lines = described.read_text().splitlines()
    except OSError as error:
        log.info("The kind of the processor is not known: %s", error)
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return frozenset(flags.partition(":")[2].split())

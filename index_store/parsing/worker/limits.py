"""The limits of a parser's process on Linux; on other systems its owner limits only its time."""

import sys
from pathlib import Path

FILES = 256
"""open at once; a document or an archive needs a handful"""


def address_space() -> int:
    """Bytes that this process has mapped; 0 if unknown."""
    if sys.platform != "linux":
        return 0
    import resource

    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def limit(memory: int, file_size: int) -> None:
    """`memory` bytes above what is mapped now, `file_size` for each file written, no threads and no processes."""
    if sys.platform != "linux":
        return
    import resource

    _set(resource.RLIMIT_AS, address_space() + memory)
    _set(resource.RLIMIT_FSIZE, file_size)
    _set(resource.RLIMIT_NOFILE, FILES)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_NPROC, 0)  # has no effect on root


def lift() -> None:
    """Called before a library is imported: its memory and its threads don't count as the file's."""
    if sys.platform != "linux":
        return
    import resource

    for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC):
        _set(kind, resource.RLIM_INFINITY)


def _set(kind: int, value: int) -> None:
    # Only the soft limit: the next file's may be higher.
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    resource.setrlimit(kind, (value, hard))

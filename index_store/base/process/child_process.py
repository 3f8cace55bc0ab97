"""The environment of our child processes: without keys, in case an attacker takes over their native code."""

import os
import re

_KEPT = re.compile(
    r"PATH|HOME|LANG|LC_.*|TZ|TMP|TEMP|TMPDIR|SYSTEMROOT|LD_LIBRARY_PATH|VIRTUAL_ENV|PYTHON.*|OMP_NUM_THREADS", re.I
)
"""variables that Python and the libraries need"""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}

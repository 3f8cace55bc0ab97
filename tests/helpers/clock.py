"""The environment of a process whose clock is wrong by an offset, with Debian's libfaketime."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (Path("/"), ROOT / ".venv" / "clock")
"""installed, or unpacked by `make clock`"""


def environment(offset: str) -> dict[str, str]:
    """Variables for the process's environment. `offset`: for example +6h. Waits still take their normal time."""
    found = [file for place in PLACES for file in place.glob("usr/lib/*/faketime/libfaketimeMT.so.1")]
    if not found:
        pytest.skip("no libfaketime: `make clock` unpacks it where there is Debian's apt-get")
    return {"LD_PRELOAD": str(found[0]), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

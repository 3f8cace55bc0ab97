"""A process whose clock is not that of the others, by Debian's libfaketime."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = (Path("/"), ROOT / ".venv" / "clock")
"""as installed, else where `make clock` unpacks it"""


def environment(offset: str) -> dict[str, str]:
    """What is to be in a process's environment. `offset`: such as +6h. What it waits for takes as long as ever."""
    found = [file for place in PLACES for file in place.glob("usr/lib/*/faketime/libfaketimeMT.so.1")]
    if not found:
        pytest.skip("no libfaketime: `make clock` unpacks it where there is Debian's apt-get")
    return {"LD_PRELOAD": str(found[0]), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

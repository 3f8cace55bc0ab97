"""The lock files: they pin versions that requirements*.txt allow, with the hash of each file."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-sbom.lock", "requirements-pip.lock")
PIN = re.compile(
    r"^(?P<name>[a-z0-9._-]+)==(?P<version>\S+)(?: ; [^\\]+)? \\\n"
    r"(?:    --hash=sha256:\w{64}(?: \\)?\n)+",
    re.MULTILINE,
)
UNREACHABLE = (
    "error sending request",
    "Could not connect",
    "Failed to fetch",
    "timed out",
    "HTTP status",
    "Failed to download",
)
"""what uv says if the package index, or the way to it, is at fault"""


def requirements(name: str) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def pins(name: str) -> dict[str, str]:
    """Versions by package."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = {pin["name"]: pin["version"] for pin in PIN.finditer(text)}
    assert PIN.sub("", text).strip().startswith("# ")
    assert len(PIN.sub("", text).strip().splitlines()) == 2  # the header; all other lines are pins with hashes
    return found


@pytest.mark.parametrize(
    ("ranges", "lock"),
    [
        ("requirements.txt", "requirements.lock"),
        ("requirements.txt", "requirements-dev.lock"),
        ("requirements-dev.txt", "requirements-dev.lock"),
        ("requirements-sbom.txt", "requirements-sbom.lock"),
        ("requirements-pip.txt", "requirements-pip.lock"),
    ],
)
def test_each_requirement_is_locked_within_its_range(ranges: str, lock: str) -> None:
    locked = pins(lock)
    wrong = [str(each) for each in requirements(ranges) if not each.specifier.contains(locked.get(each.name, "0"))]
    assert wrong == []


@pytest.mark.parametrize("ranges", [Path(lock).with_suffix(".txt").name for lock in LOCKS])
def test_each_requirement_has_a_floor_and_a_ceiling(ranges: str) -> None:
    open_ended = [
        str(each) for each in requirements(ranges) if {part.operator for part in each.specifier} != {">=", "<"}
    ]
    assert open_ended == []


def test_the_tests_run_on_what_is_shipped() -> None:
    app, development = pins("requirements.lock"), pins("requirements-dev.lock")
    assert app.items() <= development.items()


def test_no_package_of_the_tests_slows_the_start_of_each_of_their_processes() -> None:
    """Chroma loads jsonschema, which loads this package if it is installed; that takes 1.6 s."""
    assert "rfc3987-syntax" not in pins("requirements-dev.lock")


def test_a_lock_file_names_no_place_to_fetch_from() -> None:
    for lock in LOCKS:
        assert "://" not in (ROOT / lock).read_text(encoding="utf-8")


def test_the_lock_files_are_current(tmp_path: Path) -> None:
    """They are as `make lock` would write them now."""
    for name in (*LOCKS, *(Path(lock).with_suffix(".txt") for lock in LOCKS), "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    uv = Path(sys.executable).with_name("uv")
    try:
        done = subprocess.run(
            ["make", "lock", f"LOCKER={uv}"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=250
        )
    except subprocess.TimeoutExpired:
        pytest.skip("the package index does not answer in time")
    if done.returncode and any(sign in done.stderr for sign in UNREACHABLE):
        pytest.skip("the package index can't be reached")
    assert done.returncode == 0, done.stderr
    for name in LOCKS:
        assert (tmp_path / name).read_text(encoding="utf-8") == (ROOT / name).read_text(encoding="utf-8"), name

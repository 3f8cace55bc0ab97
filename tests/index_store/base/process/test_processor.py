"""What a process may use of the processors, and what they can do."""

import os
from pathlib import Path

import pytest

from index_store.base.process.processor import cores, instructions


@pytest.fixture(autouse=True)
def _sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)


@pytest.mark.parametrize(
    ("said", "number"),
    [("200000 100000\n", 2), ("150000 100000\n", 2), ("50000 100000\n", 1), ("max 100000\n", 16), ("", 16)],
)
def test_a_container_that_gets_less_time_of_the_processors_has_fewer_threads(
    tmp_path: Path, said: str, number: int
) -> None:
    (tmp_path / "cpu.max").write_text(said)
    assert cores(tmp_path) == number


@pytest.mark.parametrize(("quota", "number"), [("200000\n", 2), ("-1\n", 16)])
def test_so_has_one_of_an_older_linux(tmp_path: Path, quota: str, number: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores(tmp_path) == number


@pytest.mark.parametrize(("asked", "number"), [("4", 4), ("4,2", 4), ("", 16), ("many", 16), ("0", 16)])
def test_the_number_of_threads_that_an_operator_sets_counts_and_a_list_of_them_is_understood(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: str, number: int
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert cores(tmp_path) == number


X86 = "processor\t: 0\nflags\t\t: fpu avx2 avx_vnni\nbugs\t\t: spectre_v1\n\n" * 2


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    file = tmp_path / "cpuinfo"
    file.write_text(X86)
    return file


def test_what_a_processor_can_do_is_told_by_linux(described: Path) -> None:
    assert instructions(described) == {"fpu", "avx2", "avx_vnni"}


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("linux", "aarch64"), ("win32", "AMD64")])
def test_elsewhere_it_is_not_asked(monkeypatch: pytest.MonkeyPatch, described: Path, system: str, machine: str) -> None:
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert instructions(described) == frozenset()


@pytest.mark.parametrize("text", ["", "processor: 0\n", None], ids=["empty", "no flags", "no file"])
def test_if_it_is_not_told_nothing_is_taken_for_granted(described: Path, text: str | None) -> None:
    described.unlink() if text is None else described.write_text(text)
    assert instructions(described) == frozenset()

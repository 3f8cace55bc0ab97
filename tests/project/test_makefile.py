"""Targets of the Makefile, on a copy of it with an environment of stubs: no test may make the real one again."""

import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import BROWSERS

ROOT = Path(__file__).parents[2]


class Copy:
    """A folder with the Makefile and a .venv that counts as installed. Its programs are all that recipes find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / ".venv/bin"
        self.bin.mkdir(parents=True)
        shutil.copy(ROOT / "Makefile", folder)
        for lock in ROOT.glob("requirements*.lock"):
            (folder / lock.name).touch()
        self.stub("python", "exit 1")
        for stamp in ("installed", "installed-dev"):
            (folder / ".venv" / stamp).touch()

    def stub(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def link(self, name: str) -> None:
        """A program of the environment in which the tests run."""
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).symlink_to(Path(sys.executable).with_name(name))

    def make(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = shutil.which("make")
        assert program
        return subprocess.run(
            [program, *arguments],
            cwd=self.folder,
            env={"PATH": str(self.bin)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_fix_formats_also_where_a_finding_is_left(copy: Copy) -> None:
    copy.link("ruff")
    shutil.copy(ROOT / "pyproject.toml", copy.folder)
    arguments = ", ".join(f"name{n}='{'x' * 30}'" for n in range(4))
    long = copy.folder / "long.py"
    long.write_text(f'"""Long."""\n\n\ndef f(**v: str) -> None: ...\n\n\nf({arguments})\n', encoding="utf-8")
    assert copy.make("fix").returncode == 0
    assert max(map(len, long.read_text(encoding="utf-8").splitlines())) <= 120
    long.write_text("import os\nx='unknown' + y\n", encoding="utf-8")
    left = copy.make("fix")
    assert left.returncode != 0
    assert "F821" in left.stdout
    assert long.read_text(encoding="utf-8") == 'x = "unknown" + y\n'


@pytest.fixture
def as_root(copy: Copy) -> Copy:
    """With an apt that has no package."""
    copy.stub("id", "echo 0")
    copy.stub("apt-get", '[ "$1" = update ]')
    return copy


def test_where_apt_has_no_chromium_playwrights_is_fetched(as_root: Copy) -> None:
    as_root.stub("playwright", 'echo "$@" >> asked')
    assert as_root.make("chromium").returncode == 0
    assert (as_root.folder / "asked").read_text(encoding="utf-8") == "install --with-deps --only-shell chromium\n"


@pytest.mark.parametrize("name", BROWSERS)
def test_a_browser_that_the_tests_find_is_enough(as_root: Copy, name: str) -> None:
    as_root.stub(name, "exit 1")
    as_root.stub("playwright", "echo > asked")
    as_root.stub("apt-get", "echo > asked")
    assert as_root.make("chromium").returncode == 0
    assert not (as_root.folder / "asked").exists()


def test_where_apt_has_no_node_the_tests_that_sign_in_are_skipped_in_a_sentence(as_root: Copy) -> None:
    for name in ("cmp", "mkdir", "cp"):
        as_root.stub(name, "exit 1")
    made = as_root.make("provider")
    assert made.returncode == 0
    assert "the tests that sign in are skipped" in made.stderr


def test_on_a_mac_with_an_intel_processor_nothing_is_downloaded(copy: Copy) -> None:
    (copy.bin / "python").unlink()
    copy.stub("uname", "echo Darwin x86_64")
    copy.stub("python3", "echo > asked")
    refused = copy.make("install")
    assert refused.returncode != 0
    assert "Macs with Intel processors" in refused.stderr
    assert not (copy.folder / "asked").exists()


def test_a_python_whose_sqlite_is_too_old_is_refused_before_anything_is_downloaded(copy: Copy) -> None:
    (copy.bin / "python").unlink()
    copy.stub("uname", "echo Linux x86_64")
    python = f"""{shlex.quote(sys.executable)} -c "import sqlite3; sqlite3.sqlite_version_info = (3, 34, 1); $2\""""
    copy.stub("python3", f'case "$2" in import*) {python};; *) echo > asked;; esac')
    refused = copy.make("install")
    assert refused.returncode != 0
    assert "SQLite 3.35 or newer is needed" in refused.stderr
    assert not (copy.folder / "asked").exists()


def test_packages_are_installed_by_a_newer_pip_or_if_it_cannot_be_had_by_this_pythons_own(copy: Copy) -> None:
    copy.stub("python", 'echo "$@" >> asked; case "$*" in *requirements-pip*) exit 1;; esac')
    (copy.bin / "python").rename(copy.folder / "python of the new environment")
    copy.stub("python3", 'case "$2" in venv) cp "python of the new environment" .venv/bin/python;; esac')
    for name in ("cp", "touch"):
        (copy.bin / name).symlink_to(shutil.which(name) or "")
    (copy.folder / ".venv/installed").unlink()
    made = copy.make("install")
    asked = (copy.folder / "asked").read_text(encoding="utf-8").splitlines()
    assert [each.split()[-1] for each in asked] == ["requirements-pip.lock", "requirements.lock"]
    assert all("--require-hashes" in each for each in asked)
    assert made.returncode == 0
    assert "this Python's own pip" in made.stderr


def test_the_environment_of_sbom_has_the_python_that_was_chosen_for_the_app(copy: Copy) -> None:
    copy.stub("python", 'echo "$@" >> asked; exit 1')
    for stamp in ("installed", "installed-dev"):
        (copy.folder / ".venv" / stamp).touch()
    copy.make("sbom")
    assert (copy.folder / "asked").read_text(encoding="utf-8") == "-m venv --clear .venv/sbom\n"


@pytest.mark.parametrize("port", ["abc", "70000"])
def test_a_port_that_is_none_is_not_called_in_use(copy: Copy, port: str) -> None:
    copy.link("python")
    refused = copy.make("-o", ".venv/installed", "port", f"PORT={port}")
    assert refused.returncode != 0
    assert f"Port {port} can't be used (" in refused.stderr
    assert "in use" not in refused.stderr


def test_a_port_that_another_program_has_is_called_in_use(copy: Copy) -> None:
    copy.link("python")
    with socket.create_server(("localhost", 0)) as other:
        port = other.getsockname()[1]
        refused = copy.make("-o", ".venv/installed", "port", f"PORT={port}")
    assert refused.returncode != 0
    assert f"Port {port} is in use" in refused.stderr

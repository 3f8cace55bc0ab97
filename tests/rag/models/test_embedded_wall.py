"""The wall around the embedded model: without its folder, the tests of service models still pass.

Import-linter checks the imports.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

ALL = tuple(f"tests/rag/{name}" for name in ("graph", "models/service", "nodes", "pipelines", "runs", "text"))


@pytest.fixture
def tree_without_it(tmp_path) -> Path:
    """The project without the folder of the embedded model and the lines that register it."""
    for name in ("index_store", "rag", "pages", "tests", "docs"):
        # With what is compiled, which takes half the time of the test; without what is just being compiled.
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "rag" / "models" / "embedded")
    registry = tmp_path / "rag" / "models" / "registry.py"
    lines = registry.read_text(encoding="utf-8").splitlines(keepends=True)
    registry.write_text("".join(line for line in lines if "EmbeddedSource" not in line), encoding="utf-8")
    return tmp_path


def passes(tree: Path, *tests: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "-m",
        "not embedded and not soak",
        *tests,
    ]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_no_test_of_runs_asks_for_the_embedded_model(tree_without_it):
    passes(tree_without_it, "--collect-only", *ALL)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_all_tests_of_runs_pass_without_the_embedded_model(tree_without_it):
    passes(tree_without_it, *ALL)

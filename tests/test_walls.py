"""The walls between the packages: that they stand, and that breaking through one is noticed."""

import ast
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("pages", "rag", "index_store")


def lint_imports(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def copy_packages(folder: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)


@pytest.fixture
def copy_of_the_packages(tmp_path) -> Path:
    copy_packages(tmp_path)
    return tmp_path


def test_the_walls_stand(copy_of_the_packages):
    result = lint_imports(copy_of_the_packages)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("package", "imported", "contract"),
    [
        ("index_store", "import rag", "pages -> rag -> index_store, never back"),
        ("rag", "import pages", "pages -> rag -> index_store, never back"),
        ("rag", "import streamlit", "Streamlit stays in pages and app.py"),
        ("index_store", "from streamlit import cache_data", "Streamlit stays in pages and app.py"),
        ("rag", "def search():\n    import chromadb", "Chroma stays in index_store"),
        ("pages", "from langgraph.graph import StateGraph", "LangGraph stays in rag"),
    ],
)
def test_an_import_through_a_wall_is_noticed(copy_of_the_packages, package, imported, contract):
    (copy_of_the_packages / package / "intruder.py").write_text(imported + "\n")
    result = lint_imports(copy_of_the_packages)
    assert result.returncode == 1
    assert f"{contract} BROKEN" in result.stdout
    assert "1 broken" in result.stdout


LAYERS = (
    ("__main__",),
    ("store",),
    ("search", "ingestion"),
    ("library",),
    ("catalogue",),
    ("full_text", "vectors"),
    ("crawl",),
    ("parsing",),
    ("base",),
)
"""of index_store, from the top; those that stand side by side do not know each other"""

UPWARD = [(low, high) for above, below in pairwise(LAYERS) for high in above for low in below]
SIDEWAYS = [order for layer in LAYERS if len(layer) == 2 for order in (layer, layer[::-1])]


@pytest.fixture(scope="module")
def breaches(tmp_path_factory) -> str:
    """What is said of a copy in which each layer of index_store imports the one above it and the one beside it."""
    folder = tmp_path_factory.mktemp("breached")
    copy_packages(folder)
    for module, imported in [*UPWARD, *SIDEWAYS]:
        path = folder / "index_store" / module
        with (path / "intruder.py" if path.is_dir() else path.with_suffix(".py")).open("a") as file:
            file.write(f"import index_store.{imported}\n")
    return lint_imports(folder).stdout


@pytest.mark.parametrize(("module", "imported"), [*UPWARD, *SIDEWAYS])
def test_a_layer_of_index_store_that_imports_one_above_or_beside_it_is_noticed(breaches, module, imported):
    assert "inside index_store BROKEN" in breaches
    importer = f"index_store.{module}" if module == "store" else f"index_store.{module}.intruder"
    assert f"{importer} -> index_store.{imported}" in breaches


def test_nothing_beside_the_packages_imports_streamlit_but_app_and_the_tests():
    """import-linter sees packages; this sees the modules that lie beside them."""
    modules = [path for path in ROOT.glob("*.py") if path.name != "app.py"] + [*(ROOT / "benchmarks").rglob("*.py")]
    assert [path.name for path in modules if "streamlit" in imports_of(path)] == []


def imports_of(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}

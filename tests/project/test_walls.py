"""The walls between the packages: no import breaks one, and import-linter would report an import that does."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


THROUGH_A_WALL = [
    ("index_store/base", "import rag", "pages -> rag -> index_store, never back"),
    ("rag/text", "import pages", "pages -> rag -> index_store, never back"),
    ("rag/text", "import streamlit", "Streamlit stays in pages and app.py"),
    ("index_store/base", "from streamlit import cache_data", "Streamlit stays in pages and app.py"),
    ("rag/text", "def search():\n    import chromadb", "Chroma stays in index_store"),
    ("pages", "from langgraph.graph import StateGraph", "LangGraph stays in rag"),
    ("pages", "from index_store.store.index_store import IndexStore", "Callers have UserStore, not IndexStore"),
    ("rag/nodes", "import index_store.store.index_store", "Callers have UserStore, not IndexStore"),
    ("pages/widgets", "from rag.runs.engine import Engine", "Callers have UserEngine, not Engine"),
    ("pages", "from rag.runs.history import schema", "Nobody goes around the engine"),
    ("rag/text", "from index_store.catalogue import catalogue", "Nobody goes around the index store"),
    ("pages", "from index_store.library.opening import open_library", "Nobody goes around the index store"),
]
"""forbidden imports: package, what a new module in it contains, and contract"""
PRIVATE = [
    ("rag/runs/engine.py", "rag.models.embedded.chat", "Nobody knows the embedded chat model but the registry"),
    (
        "index_store/search/searcher.py",
        "index_store.vectors.server.server",
        "Which backend of Chroma there is, is known to the vectors alone",
    ),
    (
        "index_store/store/index_store.py",
        "index_store.vectors.embedded.model",
        "Nobody knows the embedded embedding model but the registry",
    ),
]
"""forbidden imports of private modules: file, the module that it would import, and contract"""
WITHOUT_A_LAYER = ["pages", "pages/widgets", "rag", "rag/runs", "rag/models", "index_store", "index_store/vectors"]
"""packages that get a module that their contract does not name"""


def dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def importing(package: str, imported: str) -> str:
    """The new module with this import."""
    name = re.sub(r"\W+", "_", imported)
    return f"{package}/intruder_{name}.py"


@pytest.mark.soak  # `make lint`, which is a part of `make test`, tests it too
def test_the_walls_stand(tmp_path):
    copy_packages(tmp_path)
    result = lint_imports(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> dict[str, str]:
    """What import-linter reports about one copy with all these faults, by contract: a run for each fault would take
    long. Nothing imports the new modules, so no fault can hide another.
    """
    folder = tmp_path_factory.mktemp("broken")
    copy_packages(folder)
    for package, imported, _ in THROUGH_A_WALL:
        (folder / importing(package, imported)).write_text(imported + "\n", encoding="utf-8")
    for file, imported, _ in PRIVATE:
        path = folder / file
        path.write_text(f"import {imported}\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    for package in WITHOUT_A_LAYER:
        (folder / package / "stray.py").touch()
    result = lint_imports(folder)
    assert result.returncode == 1
    _, *parts = re.split(r"\n(\S.*)\n---+\n", result.stdout.partition("Broken contracts")[2])
    reported = {name: " ".join(told.split()) for name, told in zip(parts[::2], parts[1::2], strict=True)}
    assert all(f"{name} BROKEN" in result.stdout for name in reported)
    return reported


@pytest.mark.parametrize(("package", "imported", "contract"), THROUGH_A_WALL)
def test_an_import_through_a_wall_is_noticed(broken, package, imported, contract):
    module = dotted(importing(package, imported))
    assert [name for name, told in broken.items() if f"{module} -> " in told] == [contract]


def layered_contracts() -> dict[str, list[list[str]]]:
    """The contracts about the inside of a package, by name: its layers from the top, each a list of modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found = {}
    for contract in contracts:
        if contract["type"] == "layers" and contract["name"].startswith("inside"):
            [container] = contract["containers"]
            layers = [layer.split(" | ") for layer in contract["layers"]]
            found[contract["name"]] = [[f"{container}.{module}" for module in layer] for layer in layers]
    return found


CONTRACTS = layered_contracts()
BREACHES = [
    (name, low, high)
    for name, layers in CONTRACTS.items()
    for above, below in pairwise(layers)
    for high in above
    for low in below
] + [
    (name, one, other)
    for name, layers in CONTRACTS.items()
    for layer in layers
    for one in layer
    for other in layer
    if one != other
]
"""forbidden imports: contract, module, and the module above or beside it that it would import"""


def drawn_modules() -> list[str]:
    """The modules in the drawing of docs/architecture.md, from the top."""
    drawing = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("```")[1]
    found: list[str] = []
    path: list[str] = []
    for line in drawing.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        for name in re.findall(r"(?:^ *|   )(\w+)(?:/|\.py)", line):
            path[depth:] = [name]
            found.append(".".join(path))
    return found


@pytest.mark.parametrize(
    "contract", ["inside pages", "inside pages.widgets", "inside rag", "inside rag.runs", "inside index_store"]
)
def test_architecture_draws_each_folder_in_the_order_of_the_layers(contract):
    place = {module: number for number, layer in enumerate(CONTRACTS[contract]) for module in layer}
    drawn = [module for module in drawn_modules() if module in place]
    assert drawn == sorted(drawn, key=place.__getitem__)
    assert {module for module in place if (ROOT / module.replace(".", "/")).is_dir()} <= set(drawn)


def intruder_of(module: str) -> str:
    """The module that gets the forbidden import: a new one in a package, otherwise the module itself."""
    return f"{module}.intruder" if (ROOT / module.replace(".", "/")).is_dir() else module


@pytest.fixture(scope="module")
def breaches(tmp_path_factory) -> str:
    """What import-linter reports about a copy in which every module imports those one layer above and beside it."""
    folder = tmp_path_factory.mktemp("breached")
    copy_packages(folder)
    for _, module, imported in BREACHES:
        with (folder / intruder_of(module).replace(".", "/")).with_suffix(".py").open("a", encoding="utf-8") as file:
            file.write(f"import {imported}\n")
    return " ".join(lint_imports(folder).stdout.split())  # it wraps lines between long names


def test_an_import_from_a_layer_above_or_beside_is_noticed(breaches):
    missed = [
        (module, imported) for _, module, imported in BREACHES if f"{intruder_of(module)} -> {imported}" not in breaches
    ]
    assert missed == []
    assert all(f"{name} BROKEN" in breaches for name in CONTRACTS)


@pytest.mark.parametrize("package", WITHOUT_A_LAYER)
def test_a_module_that_stands_in_no_layer_is_noticed(broken, package):
    assert f"{dotted(package)}.stray" in broken[f"inside {dotted(package)}"]


@pytest.mark.parametrize(("module", "imported", "contract"), PRIVATE)
def test_a_forbidden_import_of_a_private_module_is_reported(broken, module, imported, contract):
    assert f"{dotted(module)} -> {imported}" in broken[contract]


def test_nothing_beside_the_packages_imports_streamlit_but_app_and_the_tests():
    """import-linter checks the packages; this test checks the modules beside them."""
    modules = [*ROOT.glob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    # the server, the server with more routes, and the benchmarks of a page and of its protocol
    of_pages = {"app.py", "served.py", "conversation.py", "tab.py"}
    assert {path.name for path in modules if any(map(re.compile(r"streamlit\b").match, imports_of(path)))} == of_pages


A_TEST_MODULE = re.compile(r"(?:from|import) tests[\w.]*(?:\.| import (?:\([^)]*|[^(\n]*)\b)test_")
"""an import of a module of tests; what stands in a text matches, too"""


def test_no_test_module_is_imported():
    """What several of them use is in a module beside them, or in a `conftest.py`."""
    modules = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    # Parsing all of them takes seconds.
    likely = [path for path in modules if A_TEST_MODULE.search(path.read_text(encoding="utf-8"))]
    found = {(path.name, name) for path in likely for name in imports_of(path) if re.match(r"tests\b.*\.test_", name)}
    assert found == set()


def imports_of(path: Path) -> set[str]:
    """What a module imports, anywhere in its code: modules, and the names from them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names

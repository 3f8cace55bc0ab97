"""The documentation: the files, headings, pictures, texts and tests that it names exist, and its lists are complete."""

import ast
import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from index_store.base.errors import ModelUnknown, PlainError
from index_store.parsing.loaders.formats import LOADABLE
from index_store.store.index_store import IndexStore
from index_store.vectors.registry import make_embeddings
from pages.samples.faults import FAULTS, Fault
from pages.texts import texts
from rag.settings import Settings
from tests.servers import OpenAIServer

ROOT = Path(__file__).parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")})
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(r"`([\w/]+\.py)(?:::(\w+))?`")
TESTS = sorted(
    {each for name in ("security", "growing") for each in NAMED.findall((ROOT / f"docs/{name}.md").read_text("utf-8"))}
)
"""tests that these pages name: file below tests/, and function"""
PLACED = re.compile(r"((?:`\w+`(?:, | and ))*`\w+`) (?:in|of|\()\s*`([\w/]+\.py)`")
"""`name` in `file.py`, or `name` (`file.py`)"""
FIGURE = re.compile(r"\d\.\d\d+")
OF_OTHER_PROGRAMS = {"--host"}
"""options that pages name alone, of `chroma run`"""
FOR_TESTS = {
    "chromium": ("Chromium", "IPA fonts"),
    "proxies": ("nginx", "Caddy"),
    "postgres": ("Postgres",),
    "clock": ("libfaketime",),
    "provider": ("Node.js", "npm", "oidc-provider"),
}
"""tool of `make test` -> what it downloads"""
TREES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in ("index_store", "rag")
    for path in sorted(ROOT.glob(f"{package}/**/*.py"))
    if "└── " in path.read_text(encoding="utf-8")
]
"""modules whose docstring has a tree of their errors"""
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes from headings."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_heading_and_each_picture_is_there(page):
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), path
        assert not anchor or anchor in anchors(to), f"{path}#{anchor}"


def test_each_picture_is_shown_on_a_page():
    shown = {(page.parent / path).resolve() for page in PAGES for path, _ in LINK.findall(page.read_text("utf-8"))}
    assert {*ROOT.glob("docs/images/*"), *ROOT.glob("docs/*/images/*")} <= shown


@pytest.mark.parametrize(("language", "name"), [("en", "guide.md"), ("ja", "guide.ja.md")])
def test_the_guide_asks_what_was_prepared_and_names_what_the_pages_say(language, name):
    guide, words = (ROOT / "docs" / name).read_text(encoding="utf-8"), texts(language)
    for fault in FAULTS:
        assert f"`{fault.index}`" in guide
        assert fault.questions[language] in guide
    named = ("app.runs", "runs.why", "step.retrieve", "step.grade_documents", "step.check_answer", "change.run_on")
    for key in (*named, "chat.with_another", "compare.with", "detail.look_at_search", "share.revoke", "share.all"):
        assert words[key].lower() in " ".join(guide.split()).lower(), key


def not_found() -> Fault:
    [fault] = [each for each in FAULTS if each.cause == "not_found"]
    return fault


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexStore]:
    fault = not_found()
    with IndexStore(Settings(data_dir=tmp_path_factory.mktemp("prepared"))) as store:
        for path in fault.documents():
            store.add(fault.index, path, path.name)
        yield store


@pytest.mark.soak
@pytest.mark.parametrize(("language", "name"), [("en", "guide.md"), ("ja", "guide.ja.md")])
def test_the_guide_says_at_which_rank_each_search_has_the_part(language, name, prepared):
    ranks = {
        "en": {"keyword": (1, "By keyword the passage is first."), "hybrid": (6, "Hybrid puts it sixth")},
        "ja": {"keyword": (1, "キーワードでは一番上"), "hybrid": (6, "6 番目")},
    }
    fault = not_found()
    question = fault.questions[language]
    [part] = re.findall(r"\w\w-\d{4}", question)
    guide = " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())
    for mode, (rank, said) in ranks[language].items():
        hits = prepared.search(fault.index, question, mode=mode, k=8)
        assert [hit.rank for hit in hits if part in hit.text] == [rank], mode
        assert said in guide, mode


@cache
def functions_of(file: str) -> set[str]:
    """`file`: below tests/"""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_test_that_the_pages_on_security_and_growing_name_exists():
    assert TESTS
    for file, name in TESTS:
        functions = functions_of(file)
        assert functions, file
        assert not name or name in functions, f"{file}::{name}"


def test_each_name_that_the_page_for_contributors_places_in_a_file_is_there():
    placed = PLACED.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert placed
    for names, file in placed:
        words = set(re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8")))
        assert {*re.findall(r"\w+", names)} <= words, file


@pytest.mark.parametrize(("name", "heading"), [("README.md", "Figures"), ("README.ja.md", "数値")])
def test_each_exact_figure_of_the_readmes_is_on_the_page_with_all_figures(name, heading):
    _, _, rest = (ROOT / name).read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    shown = {*FIGURE.findall(rest.partition("\n## ")[0])}
    assert shown
    assert shown - {*FIGURE.findall((ROOT / "docs/figures.md").read_text(encoding="utf-8"))} == set()


def test_each_option_that_a_page_names_alone_is_one_of_our_commands():
    code = [path for package in ("index_store", "rag", "benchmarks") for path in ROOT.glob(f"{package}/**/*.py")]
    ours = {option for path in code for option in re.findall(r'"(--[a-z-]+)"', path.read_text(encoding="utf-8"))}
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]
    named = {option for page in pages for option in re.findall(r"`(--[\w-]+)", page.read_text(encoding="utf-8"))}
    assert named - ours == OF_OTHER_PROGRAMS


def test_the_page_for_operators_names_the_variables_of_a_proxy_to_outside_which_count(data_dir, monkeypatch):
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    assert re.search(r"`HTTPS_PROXY`.*`HTTP_PROXY`.*`NO_PROXY`", page, re.DOTALL)
    with OpenAIServer() as outside, OpenAIServer() as proxy:
        settings = Settings(data_dir=data_dir, openai_base_url=outside.base_url, model_retries=0)

        def embed(**environment: str) -> None:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
                monkeypatch.setenv(name.lower(), value)
            with closing(make_embeddings(settings)) as embeddings:
                embeddings.query("?")

        with pytest.raises(ModelUnknown):  # the server that stands for the proxy does not know the whole address
            embed(HTTP_PROXY=proxy.url, NO_PROXY="")
        assert (len(proxy.requests), len(outside.requests)) == (1, 0)
        embed(NO_PROXY="127.0.0.1")
        assert (len(proxy.requests), len(outside.requests)) == (1, 1)


def test_the_notice_names_what_the_makefile_downloads_for_tests():
    [tools] = re.findall(r"^TOOLS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert tools.split() == list(FOR_TESTS)
    _, _, notice = (ROOT / "NOTICE.md").read_text(encoding="utf-8").partition("\n## For tests\n")
    assert [name for names in FOR_TESTS.values() for name in names if f"| {name}" not in notice] == []


@pytest.mark.parametrize("name", ["README.md", "README.ja.md"])
def test_the_readmes_name_the_packages_that_a_fresh_debian_needs(name):
    needed = re.findall(r"missing\+=\(([\w-]+)\)", (ROOT / ".ci/run").read_text(encoding="utf-8"))
    assert {"make", "libgomp1"} <= {*needed}
    assert f"`apt install {' '.join(needed)}`" in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "README.ja.md", "docs/documents.md"])
def test_the_first_command_of_the_readmes_adds_files_that_are_there(name):
    page = (ROOT / name).read_text(encoding="utf-8")
    added = re.findall(r"^python -m index_store add --index \w+ (.*?)(?: --.*)?$", page, re.MULTILINE)
    sources = [source for each in added for source in shlex.split(each, comments=True) if "://" not in source]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        files = [each for each in (ROOT / source, *(ROOT / source).rglob("*")) if each.is_file()]
        assert [each.name for each in files if each.suffix not in LOADABLE] == []
        assert files


@pytest.mark.parametrize(
    ("name", "mac"), [("README.md", "Mac with Apple silicon"), ("README.ja.md", "Apple シリコンの Mac")]
)
def test_the_readmes_name_the_systems_for_which_there_are_packages(name, mac):
    readme = (ROOT / name).read_text(encoding="utf-8")
    assert "glibc" in readme
    assert mac in readme


@pytest.mark.parametrize("name", TREES)
def test_the_tree_of_a_modules_errors_names_each_of_them(name):
    module = import_module(name)
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, PlainError)]
    errors = {each.__name__ for each in classes if each.__module__.startswith(name)}
    assert errors - set(re.findall(r"\w+", module.__doc__)) == set()

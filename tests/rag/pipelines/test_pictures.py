"""The documentation of the pipelines: each has a page with the graph that runs, and lists lead to all pages."""

import re
from pathlib import Path

import pytest

from rag.pipelines import PIPELINES

ROOT = Path(__file__).parents[3]
PAGES = {page.stem: page for page in (ROOT / "docs" / "pipelines").glob("*.md")}


def test_each_pipeline_has_a_page_and_no_page_is_left_of_another():
    assert PAGES.keys() == PIPELINES.keys()


@pytest.mark.parametrize("name", ["README.md", "README.ja.md", "docs/README.md"])
def test_each_list_of_the_pipelines_leads_to_all_their_pages(name):
    page = (ROOT / name).read_text(encoding="utf-8")
    listed = re.findall(r"^(?:\| |- )\[`?(\w+)`?\]\(\S*pipelines/\1\.md\)", page, re.MULTILINE)
    assert sorted(listed) == sorted(PIPELINES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_the_graph_that_runs(name):
    drawn = re.findall(r"```mermaid\n(.*?)```", PAGES[name].read_text(encoding="utf-8"), re.DOTALL)
    assert drawn == [PIPELINES[name].mermaid()]

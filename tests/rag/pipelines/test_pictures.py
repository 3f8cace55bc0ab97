"""The documentation of each pipeline shows the graph that runs."""

import re
from pathlib import Path

import pytest

from rag.pipelines import PIPELINES

PAGES = {page.stem: page for page in (Path(__file__).parents[3] / "docs" / "pipelines").glob("*.md")}


def test_the_pipelines_have_a_page_each():
    assert PAGES.keys() >= {
        "naive",
        "multivector",
        "hybrid",
        "self_rag",
        "self_rag_candidates",
        "corrective",
        "adaptive",
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_the_graph_that_runs(name):
    drawn = re.findall(r"```mermaid\n(.*?)```", PAGES[name].read_text(encoding="utf-8"), re.DOTALL)
    assert drawn == [PIPELINES[name].mermaid()]

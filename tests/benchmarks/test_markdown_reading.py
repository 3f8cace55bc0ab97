import re
from pathlib import Path

import pytest

from benchmarks import markdown_reading
from benchmarks.markdown_reading import READERS, TEXTS
from tests.benchmarks.conftest import Printed


@pytest.mark.parametrize("texts", [1, pytest.param(len(TEXTS), marks=pytest.mark.soak)])
def test_both_readers_find_the_same_headings(printed: Printed, tmp_path: Path, texts: int) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: T\n---\n# One\n\nTwo\n---\n\n```\n# code\n```\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("# One\n\n- item\n\n### Three ###\n", encoding="utf-8")
    assert READERS["here"](tmp_path / "b.md") == READERS["markdown-it-py"](tmp_path / "b.md") == [1, 3]
    out = printed(markdown_reading, "--characters", 2000, "--first", texts, "--folder", tmp_path)
    assert len(re.findall(r"^\| .+ \| \d+\.\d s, \d+ MB \| \d+\.\d s, \d+ MB \|$", out, re.MULTILINE)) == texts
    assert "Other headings in 0 of 2 files." in out

import subprocess
import sys
from pathlib import Path

from benchmarks.markdown_reading import READERS
from tests.conftest import ROOT


def test_both_readers_find_the_same_headings(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: T\n---\n# One\n\nTwo\n---\n\n```\n# code\n```\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("# One\n\n- item\n\n### Three ###\n", encoding="utf-8")
    assert READERS["here"](tmp_path / "b.md") == READERS["markdown-it-py"](tmp_path / "b.md") == [1, 3]
    command = [sys.executable, "-m", "benchmarks.markdown_reading", "--characters", "2000", "--folder", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "| a table of short rows | " in done.stdout
    assert "Other headings in 0 of 2 files." in done.stdout

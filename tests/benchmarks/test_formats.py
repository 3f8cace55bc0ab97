import json
from pathlib import Path

import pytest

from benchmarks import formats
from benchmarks.formats import Expected, Outcome, held_against
from index_store.base.errors import NoText


def test_each_file_of_a_folder_has_its_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.md").write_text("## One\n\nfirst\n\n## Two\n\nsecond\n", encoding="utf-8")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7\nthis is all")
    files = [{"file": "good.md", "note": "two headings"}, {"file": "bad.pdf", "note": "cut off"}]
    (tmp_path / "manifest.jsonl").write_text("\n".join(map(json.dumps, files)), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"not as expected: bad\.pdf"):
        formats.main(["--data", str(tmp_path)])
    out = capsys.readouterr().out
    assert "| good.md<br>two headings | ready | 2 | 2 |" in out
    assert "| bad.pdf<br>cut off | bad.pdf is damaged" in out
    assert "**unreadable, not ready**" in out


def test_words_that_are_missing_or_should_not_be_there_are_named() -> None:
    outcome = Outcome(text="日当は2500円です")
    assert held_against(outcome, Expected(words=("日 当", "2500円"))) == "100% of 2"
    assert held_against(outcome, Expected(words=("日当", "宿泊"))) == "**50%; missing: 宿泊**"
    assert held_against(outcome, Expected(words=("日当",), absent=("です",))) == "**100%; should be absent: です**"


def test_a_refusal_is_right_for_the_right_reason_alone() -> None:
    refused = Outcome(error=NoText(name="a.pdf"))
    assert held_against(refused, Expected(error="no_text")) == "right reason"
    assert held_against(refused, Expected(error="unreadable")) == "**no_text, not unreadable**"
    assert held_against(refused, Expected(words=("日当",))) == "**no_text, not ready**"
    assert held_against(Outcome(text="x"), Expected(error="no_text")) == "**ready, not no_text**"

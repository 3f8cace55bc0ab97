import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from index_store import IndexStore, Settings


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "index_store", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
    )


def objects(done: subprocess.CompletedProcess[str]) -> list[dict]:
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_documents_are_added_listed_searched_and_removed(handbook: Path, tmp_path: Path) -> None:
    first, again = (run("add", "--index", "規程", "--json", handbook) for _ in range(2))
    assert (first.returncode, again.returncode) == (0, 0)
    (added,) = objects(first)
    assert added == {
        "source": str(handbook), "status": "ready", "document_id": added["document_id"], "chunks": 2, "sections": 2,
        "error": None,
    }  # fmt: skip
    assert objects(again)[0]["status"] == "unchanged"

    (index,) = objects(run("list", "--json"))
    assert (index["name"], index["documents"], index["chunks"]) == ("規程", 1, 2)
    (document,) = objects(run("list", "--index", "規程", "--json"))
    assert (document["document_id"], document["status"], document["error"]) == (added["document_id"], "ready", None)

    (found,) = objects(
        run("search", "--index", "規程", "--mode", "vector", "--unit", "chunk", "-k", "1", "--json", "日当")
    )
    assert found["id"] is None
    assert (
        found["hits"][0].items() >= {"rank": 1, "source": str(handbook), "title": "出張旅費規程", "page": None}.items()
    )

    (removed,) = objects(run("remove", "--index", "規程", "--json", tmp_path))
    assert (removed["source"], removed["status"]) == (str(handbook), "removed")
    assert objects(run("list", "--index", "規程", "--json")) == []


def test_many_questions_are_answered_in_one_process(handbook: Path, tmp_path: Path) -> None:
    run("add", "--index", "a", handbook)
    queries = tmp_path / "queries.jsonl"
    queries.write_text(
        '{"id": "q1", "question": "日当"}\n\n{"id": 2, "question": " "}\n{"id": 3, "question": "train"}\n'
    )
    done = run("search", "--index", "a", "--queries", queries, "--json")
    assert [(line["id"], len(line["hits"])) for line in objects(done)] == [("q1", 2), (2, 0), (3, 2)]
    assert done.returncode == 1


def test_a_file_that_fails_does_not_stop_the_others_and_says_why_in_the_readers_language(
    handbook: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.xyz").write_text("x")
    (tmp_path / "docs" / "b.txt").write_text("")
    handbook.rename(tmp_path / "docs" / "c.md")
    done = run("add", "--index", "a", "--json", "docs", "nothing.txt", LC_ALL="ja_JP.UTF-8")
    lines = {Path(line["source"]).name: line for line in objects(done)}
    assert {name: line["status"] for name, line in lines.items()} == {
        "a.xyz": "failed", "b.txt": "failed", "c.md": "ready", "nothing.txt": "failed"
    }  # fmt: skip
    assert ".pdf" in lines["a.xyz"]["error"]
    assert "空です" in lines["b.txt"]["error"]
    assert done.returncode == 1
    assert "is empty" in run("add", "--index", "a", "--language", "en", "docs/b.txt", LC_ALL="ja_JP.UTF-8").stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "--index", "none", "x"], "unknown_index"),
        (["search", "--index", "a", " "], "empty_question"),
        (["search", "--index", "a", "--mode", "magic", "x"], "unknown_mode"),
        (["search", "--index", "a", "--unit", "page", "x"], "unknown_unit"),
        (["search", "--index", "a", "--queries", "none.jsonl"], "bad_queries"),
        (["add", "--index", "a/b", "x"], "bad_index_name"),
    ],
)
def test_an_error_of_the_command_is_one_object(handbook: Path, arguments: list[str], code: str) -> None:
    run("add", "--index", "a", handbook)
    done = run(*arguments, "--json")
    (line,) = objects(done)
    assert line["error"]["code"] == code
    assert line["error"]["ja"] != line["error"]["en"]
    assert done.returncode == 1
    plain = run(*arguments)
    assert plain.stderr.strip() == line["error"]["en"]


def test_a_wrong_setting_is_named(data_dir: Path) -> None:
    done = run("list", CHUNK_SIZE="many")
    assert "CHUNK_SIZE" in done.stderr
    assert "50 to 2000" in done.stderr
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_a_folder_in_use_says_by_whom(settings: Settings) -> None:
    with IndexStore(settings):
        done = run("list", "--json", DATA_DIR=str(settings.data_dir))
    assert str(os.getpid()) in objects(done)[0]["error"]["en"]


def test_a_reader_that_leaves_is_no_error(handbook: Path) -> None:
    run("add", "--index", "a", handbook)
    command = f'"{sys.executable}" -m index_store list --json --index a | true'
    done = subprocess.run(["bash", "-c", command], capture_output=True, encoding="utf-8")
    assert done.stderr == ""

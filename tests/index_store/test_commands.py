import errno
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import TextIO

import pytest
from sqlalchemy import text

from index_store.base.settings.settings import Settings
from index_store.commands import main
from index_store.store.index_store import IndexStore
from tests.helpers.by_hand import by_hand
from tests.helpers.full_disk import linux
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.parsing.loaders.pdf_file import SCAN, PdfFile, Text, painted
from tests.index_store.soundness import assert_sound
from tests.servers import Refusal
from tests.servers.site_server import SiteServer, html

Write = Callable[..., Path]


@dataclass
class Done:
    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Done]


@pytest.fixture
def serve(service: EmbeddingService, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a command that uses the embedding service and may crawl this machine."""
    values = {
        "OPENAI_BASE_URL": service.base_url, "EMBEDDING_MODEL": "model-a", "MODEL_RETRIES": "0",
        "CRAWL_ALLOWED": "127.0.0.1", "CRAWL_RATE": "1000", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def run(serve: None, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in this process."""

    def run(*arguments: str | Path) -> Done:
        status = main([str(each) for each in arguments])
        done = Done(status, *capsys.readouterr())
        assert "Traceback" not in done.err
        return done

    return run


@pytest.fixture
def run_to(run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run_to(file, "list")` runs the command with this standard output, and closes it as the end of a process does:
    what is left in its buffer would be an error.
    """

    def run_to(output: TextIO | None, *arguments: str) -> Done:
        with monkeypatch.context() as patched, output or nullcontext():
            patched.setattr(sys, "stdout", output)
            status = main(arguments)
        return Done(status, *capsys.readouterr())

    return run_to


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "index_store", *map(str, arguments)]


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as site:
        site.pages = {
            "/": html("Start", "/docs/a", "/docs/b", "/blog"),
            "/docs/a": html("A", "/docs/deep"),
            "/docs/b": html("B"),
            "/docs/deep": html("Deep"),
            "/blog": html("Blog"),
        }
        yield site


# As people call it: in its own process, with the embedded model


def test_documents_are_added_by_a_process_of_its_own_and_found(
    settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    added = subprocess.run(command("add", "--index", "規程", handbook), capture_output=True, encoding="utf-8")
    assert (added.returncode, added.stdout, added.stderr) == (0, f"ready  {handbook}  (2 sections, 2 chunks)\n", "")
    assert main(["search", "--index", "規程", "-k", "1", "出張の日当はいくらですか"]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    heading, text = found.out.splitlines()
    assert heading.startswith("1. 0.")
    assert heading.endswith(f"出張旅費規程 > 日当  {handbook}")
    assert text == "日当は1日2,500円です。"


def minds_interrupts() -> None:
    """Like a process in the foreground: if the tests run in the background, it would inherit that it ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)])
def test_what_a_process_is_stopped_in_stays_pending_and_a_retry_finishes_it(
    serve: None, run: Run, service: EmbeddingService, write: Write, settings: Settings, number: signal.Signals
) -> None:
    def is_recorded() -> bool:
        """Whether the process has recorded all documents: SIGTERM gives it no time to do so."""
        with by_hand(settings) as connection:
            return connection.execute(text("SELECT count(*) FROM documents")).scalar() == 3

    service.is_held = True
    with subprocess.Popen(
        command("add", "--index", "a", "--json", "missing.md", *(write(f"{i}.md") for i in range(3))),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=minds_interrupts,
    ) as adding:
        assert adding.stdout
        assert json.loads(adding.stdout.readline())["status"] == "failed"  # each result is told at once
        service.wait_for_requests(1, timeout=60)
        assert eventually(is_recorded)
        adding.send_signal(number)
        try:
            out, err = adding.communicate(timeout=60)
        finally:
            adding.kill()
    assert adding.returncode == {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM}[number]
    assert (out, err) == ("", "")
    service.is_held = False
    assert {line["status"] for line in run("list", "--index", "a", "--json").objects} == {"pending"}
    retried = run("retry", "--index", "a", "--json")
    assert (retried.status, [line["status"] for line in retried.objects]) == (0, ["ready"] * 3)
    with IndexStore() as store:
        assert_sound(store, settings.data_dir)


def test_a_reader_that_leaves_is_no_error(run: Run, run_to: Run, write: Write) -> None:
    run("add", "--index", "a", write("a.md"))
    reader, writer = os.pipe()
    os.close(reader)
    done = run_to(os.fdopen(writer, "w"), "list", "--json", "--index", "a")
    assert (done.status, done.err) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["people", "role", "anna@example.com", "boss"], ["boss", "admin", "editor", "reader", "claimed"]),
        (["people", "add", "anna@example.com", "--role", "boss"], ["boss", "admin", "editor", "reader"]),
        (["audit", "--action", "sign_in"], ["sign_in", "signed_in", "signed_out"]),
        (["move", "--to", "cloud"], ["cloud", "servers", "folder"]),
        (["search", "--index", "a", "-k", "four", "?"], ["from 1 to 10,000"]),
        (["search", "--index", "a", "-k", "9" * 5000, "?"], ["from 1 to 10,000"]),
    ],
)
def test_a_wrong_argument_is_told_with_the_words_that_are_possible(
    arguments: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert all(word in sentence for word in told)
    assert not any(sign in sentence for sign in ("<", "Action.", "Role.", "MoveTarget", "_count"))


def test_a_command_whose_standard_output_is_closed_does_its_work(run: Run, run_to: Run, write: Write) -> None:
    """As some schedulers start their commands: Python has no sys.stdout then."""
    run("add", "--index", "a", write("a.md"))
    done = run_to(None, "rename", "--index", "a", "b")
    assert (done.status, done.err) == (0, "")
    assert [line["name"] for line in run("list", "--json").objects] == ["b"]


@linux
@pytest.mark.parametrize("given", [[], ["--json"]], ids=["text", "json"])
def test_an_output_for_which_there_is_no_room_is_told_in_one_sentence(
    run: Run, run_to: Run, write: Write, given: list[str]
) -> None:
    run("add", "--index", "a", write("a.md"))
    with Path("/dev/full").open("w") as full:
        done = run_to(full, "list", *given)
    assert done.status == 1
    assert done.err.startswith("The output can't be written: No space left on device.")
    assert done.err.count("\n") == 1


@pytest.mark.soak  # a process that is stopped has told its first result too: above
def test_each_result_is_there_as_soon_as_it_is_known(serve: None, service: EmbeddingService, write: Write) -> None:
    (first, second) = write("first.md"), write("second.md", sections=200)
    service.is_held = True
    line = command("add", "--index", "a", "--json", "missing.md", first, second)
    with subprocess.Popen(line, stdout=subprocess.PIPE, encoding="utf-8") as adding:
        assert adding.stdout
        assert json.loads(adding.stdout.readline())["status"] == "failed"
        assert adding.poll() is None
        service.is_held = False
        assert [json.loads(line)["status"] for line in adding.stdout] == ["ready", "ready"]
    assert adding.returncode == 1


# Documents


def test_the_pages_of_a_pdf_that_have_no_text_are_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "travel.pdf"
    pages = [[Text(50, 700, "It pays 2,500 yen.")], [painted(SCAN)], [painted(SCAN)], [], [painted(SCAN)]]
    file.write_bytes(PdfFile(pages).content())
    told = f"{file}  (1 section, 1 chunk, no text in pages or attachments: 2-3, 5)\n"
    assert run("add", "--index", "a", file).out == f"ready  {told}"
    assert run("list", "--index", "a").out == f"ready  {told}"
    assert run("add", "--index", "a", file).out == f"unchanged  {told}"


def test_an_attachment_without_text_is_not_called_a_page(run: Run, tmp_path: Path) -> None:
    mail = EmailMessage()
    mail.set_content("It pays 2,500 yen.")
    scan = PdfFile([[painted(SCAN)]]).content()
    mail.add_attachment(scan, maintype="application", subtype="pdf", filename="scan.pdf")
    file = tmp_path / "travel.eml"
    file.write_bytes(mail.as_bytes())
    assert run("add", "--index", "a", file).out.endswith("no text in pages or attachments: scan.pdf)\n")


@pytest.mark.soak
def test_a_newline_in_the_name_of_a_file_begins_no_other_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a\nready  b.md"
    file.write_text("# A\n\nThis is what it says.", encoding="utf-8")
    told = str(file).replace("\n", "\ufffd")
    listed = f"ready  {told}  (1 section, 1 chunk)\n"
    assert run("add", "--index", "a", file).out == listed
    assert run("list", "--index", "a").out == listed
    heading, *_ = run("search", "--index", "a", "This is what it says").out.splitlines()
    assert heading.endswith(told)
    assert run("remove", "--index", "a", file).out == f"removed  {told}\n"
    assert run("remove", "--index", "a", file).out.startswith(f"failed  {told}  ")


def test_documents_are_added_listed_searched_and_removed(run: Run, handbook: Path, tmp_path: Path) -> None:
    first, again = (run("add", "--index", "規程", "--json", handbook) for _ in range(2))
    assert (first.status, again.status) == (0, 0)
    (added,) = first.objects
    assert added == {
        "source": str(handbook), "status": "ready", "document_id": added["document_id"], "chunks": 2, "sections": 2,
        "pages_without_text": "", "error": None,
    }  # fmt: skip
    assert again.objects == [{**added, "status": "unchanged"}]

    (index,) = run("list", "--json").objects
    assert (index["name"], index["documents"], index["chunks"]) == ("規程", 1, 2)
    assert run("list").out == "規程  (1 document, 2 chunks, model-a)\n"
    (document,) = run("list", "--index", "規程", "--json").objects
    assert (document["document_id"], document["status"], document["error"]) == (added["document_id"], "ready", None)
    assert run("list", "--index", "規程").out == f"ready  {handbook}  (2 sections, 2 chunks)\n"

    search = ("search", "--index", "規程", "--mode", "vector", "--unit", "chunk", "-k", "1", "日当は1日2,500円です")
    (found,) = run(*search, "--json").objects
    assert found["id"] is None
    assert (
        found["hits"][0].items() >= {"rank": 1, "source": str(handbook), "title": "出張旅費規程", "page": None}.items()
    )

    (removed,) = run("remove", "--index", "規程", "--json", tmp_path).objects
    assert (removed["source"], removed["status"]) == (str(handbook), "removed")
    assert run("list", "--index", "規程", "--json").objects == []
    gone = run("remove", "--index", "規程", "--json", tmp_path)
    assert (gone.status, [line["status"] for line in gone.objects]) == (1, ["failed"])


def test_what_is_found_gives_the_terminal_no_command(run: Run, write: Write) -> None:
    run("add", "--index", "a", write("fees.md", words="The fee \x9b31m\tis\x07 5."))
    found = run("search", "--index", "a", "fee")
    assert "The fee \ufffd31m\tis\ufffd 5." in found.out
    as_json = run("search", "--index", "a", "--json", "fee")
    assert "\x9b31m" in as_json.objects[0]["hits"][0]["text"]
    assert not set(as_json.out) & set("\x07\x9b")
    refused = run("search", "--index", "\x1b[2J", "fee")
    assert "\ufffd[2J" in refused.err
    assert "\x1b" not in refused.err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["drop"], "Remove an index with all its documents."),
        (["people"], "People and their roles."),
        (["people", "disable"], "Withdraw a person's access; they are signed out at once."),
        (["search"], "vector, keyword, hybrid (vector)"),
    ],
)
def test_the_help_of_a_command_says_what_it_does_and_its_defaults(
    capsys: pytest.CaptureFixture[str], command: list[str], told: str
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert told in " ".join(capsys.readouterr().out.split())


def test_where_there_is_nothing_to_show_a_person_is_told_so_and_a_program_reads_nothing(
    run: Run, handbook: Path
) -> None:
    def told(*arguments: str) -> str:
        done = run(*arguments)
        assert (done.status, done.out) == (0, "")
        return done.err

    assert told("list") == "There is no index yet. Make one with `add`.\n"
    assert told("list", "--language", "ja") == "インデックスはまだありません。`add` で文書を追加すると作られます。\n"
    assert told("list", "--json") == ""
    run("add", "--index", "a", handbook)
    run("remove", "--index", "a", handbook)
    assert told("list", "--index", "a") == "This index has no documents yet. Add some with `add`.\n"
    assert told("check") == "No differences were found.\n"
    assert told("check", "--language", "ja") == "食い違いは見つかりませんでした。\n"
    assert told("check", "--json") == ""


@pytest.mark.soak
def test_files_folders_and_archives_are_added_together(run: Run, write: Write, tmp_path: Path) -> None:
    write("docs/b.md")
    write("docs/deep/a.md")
    write("docs/.hidden/c.md")
    (tmp_path / "nothing").mkdir()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("inside/旅費.txt", "日当は1日2,500円です。")
    done = run(
        "add", "--index", "a", "--json", tmp_path / "docs", write("c.md"), tmp_path / "all.zip", tmp_path / "nothing"
    )
    assert {line["source"].removeprefix(f"{tmp_path}/"): line["status"] for line in done.objects} == {
        "docs/b.md": "ready", "docs/deep/a.md": "ready", "c.md": "ready", "all.zip/inside/旅費.txt": "ready",
        "nothing": "failed",
    }  # fmt: skip
    assert done.status == 1
    assert len(run("remove", "--index", "a", tmp_path / "all.zip").out.splitlines()) == 1
    assert len(run("remove", "--index", "a", tmp_path / "docs").out.splitlines()) == 2


def test_a_folder_that_cannot_be_read_is_told_and_the_others_are_added(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/a.md")
    write("docs/closed/b.md")
    scandir = os.scandir

    def refusing(folder: str | int) -> object:
        if str(folder).endswith("/closed"):  # as for everybody but root
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    done = run("add", "--index", "a", "--json", tmp_path / "docs")
    lines = {Path(line["source"]).name: line for line in done.objects}
    assert {name: line["status"] for name, line in lines.items()} == {"a.md": "ready", "closed": "failed"}
    assert "Permission denied" in lines["closed"]["error"]
    assert done.status == 1
    alone = run("add", "--index", "a", "--json", tmp_path / "docs" / "closed")
    assert [line["error"] for line in alone.objects] == [lines["closed"]["error"]]
    assert alone.status == 1


def test_an_empty_path_is_no_path_and_adds_nothing(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md")
    monkeypatch.chdir(tmp_path)
    done = run("add", "--index", "a", "")
    assert done.status == 1
    assert done.out == 'failed    There is no file "". Check the path.\n'


def test_a_path_that_is_too_long_is_told(run: Run) -> None:
    done = run("add", "--index", "a", "--json", f"{'x' * 300}.md")
    assert [line["status"] for line in done.objects] == ["failed"]
    assert done.status == 1


def test_a_site_is_added_as_deep_as_is_said_and_crawled_again(run: Run, site: SiteServer) -> None:
    add = ("add", "--index", "a", "--json", site.url(), "--include", "/docs/*", "--exclude", "*/b", "--depth", "1")
    first = run(*add)
    assert (first.status, [line["source"] for line in first.objects]) == (0, [site.url("/docs/a")])
    deeper = run(*add[:-1], "2")
    assert {line["source"]: line["status"] for line in deeper.objects} == {
        site.url("/docs/a"): "unchanged", site.url("/docs/deep"): "ready"
    }  # fmt: skip
    assert len(run("add", "--index", "b", "--json", site.url(), "--limit", "3").objects) == 3
    assert "limit of 3 pages" in run("add", "--index", "b", site.url(), "--limit", "3").err
    assert "limit of 1 page is reached" in run("add", "--index", "c", site.url(), "--limit", "1").err
    assert "limit" not in run("add", "--index", "b", site.url(), "--limit", "6").err
    del site.pages["/docs/deep"]
    assert [line["status"] for line in run(*add[:-1], "2").objects] == ["unchanged", "removed"]
    assert run("remove", "--index", "a", site.url().rstrip("/")).status == 0  # as somebody may have added it
    assert run("list", "--index", "a", "--json").objects == []


def test_a_site_inside_the_network_is_refused_with_what_would_allow_it(
    run: Run, site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRAWL_ALLOWED")
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    done = run("add", "--index", "a", site.url())
    assert done.status == 1
    assert done.out.startswith(f"failed  {site.url()}  127.0.0.1 はネットワーク内部のアドレス")
    assert "CRAWL_ALLOWED" in done.out


def test_many_questions_are_answered_in_one_process(run: Run, handbook: Path, tmp_path: Path) -> None:
    run("add", "--index", "a", handbook)
    queries = tmp_path / "queries.jsonl"
    queries.write_text(
        '{"id": "q1", "question": "日当"}\n\n{"id": 2, "question": " "}\n{"id": 3, "question": "train"}\n'
    )
    done = run("search", "--index", "a", "--queries", queries, "--json")
    assert [(line["id"], len(line["hits"])) for line in done.objects] == [("q1", 2), (2, 0), (3, 2)]
    assert done.status == 1
    plain = run("search", "--index", "a", "--queries", queries)
    assert "2: The question is empty." in plain.out


def test_a_search_that_finds_nothing_says_so_and_prints_no_empty_line(run: Run, write: Write) -> None:
    added = run("add", "--index", "a", write("a.md", 1))
    assert "(1 section, 1 chunk)" in added.out
    nothing = ("search", "--index", "a", "--mode", "keyword", "zzzz")
    assert (run(*nothing).out, run(*nothing).err) == ("", "Nothing was found.\n")
    assert run(*nothing, "--json").objects == [{"id": None, "hits": []}]


def test_a_line_of_questions_ends_only_at_its_line_feed(run: Run, handbook: Path, tmp_path: Path) -> None:
    run("add", "--index", "a", handbook)
    queries = tmp_path / "queries.jsonl"
    queries.write_bytes('{"id": 1, "question": "日当\u2028\x85"}\r\n{"id": 2, "question": "train"}'.encode())
    done = run("search", "--index", "a", "--queries", queries, "--json")
    assert [(line["id"], len(line["hits"])) for line in done.objects] == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        pytest.param(b'{"id": 1, "question": null}', "bad_queries", "Line 1", marks=pytest.mark.soak),
        (b'\n{"id": 1, "question": ["a", "b"]}', "bad_queries", "Line 2"),
        pytest.param(b'{"id": 1, "question": true}', "bad_queries", "Line 1", marks=pytest.mark.soak),
        (b"[" * 100_000, "bad_queries", "Line 1"),
        ('{"id": 1, "question": "日当"}'.encode("shift_jis"), "queries_not_in_utf8", "UTF-8"),
        ('{"id": 1, "question": "日当"}'.encode("utf-16"), "queries_not_in_utf8", "UTF-8"),
    ],
    ids=["null", "list", "true", "deep", "Shift_JIS", "UTF-16"],
)
def test_a_file_that_holds_no_questions_is_refused_with_what_is_wrong(
    run: Run, tmp_path: Path, content: bytes, code: str, told: str
) -> None:
    with IndexStore() as store:
        store.create_index("a")
    queries = tmp_path / "queries.jsonl"
    queries.write_bytes(content)
    done = run("search", "--index", "a", "--queries", queries, "--json")
    (line,) = done.objects
    assert (line["error"]["code"], done.status) == (code, 1)
    assert told in line["error"]["en"]


def test_a_file_that_fails_does_not_stop_the_others_and_says_why_in_the_readers_language(
    run: Run, handbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.xyz").write_text("x")
    (tmp_path / "docs" / "b.txt").write_text("")
    handbook.rename(tmp_path / "docs" / "c.md")
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    done = run("add", "--index", "a", "--json", "docs", "nothing.txt")
    lines = {Path(line["source"]).name: line for line in done.objects}
    assert {name: line["status"] for name, line in lines.items()} == {
        "a.xyz": "failed", "b.txt": "failed", "c.md": "ready", "nothing.txt": "failed"
    }  # fmt: skip
    assert ".pdf" in lines["a.xyz"]["error"]
    assert "空です" in lines["b.txt"]["error"]
    assert done.status == 1
    assert "is empty" in run("add", "--index", "a", "--language", "en", "docs/b.txt").out
    assert "空です" in run("list", "--index", "a").out


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_sentences_are_in_the_language_of_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], language: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = run("list", "--index", "none").err
    assert ("インデックス" in said) is (language == "ja")


def test_what_failed_is_retried_and_what_was_ready_is_not(run: Run, service: EmbeddingService, write: Write) -> None:
    run("add", "--index", "a", write("good.md"))
    service.fails(Refusal(500))
    failed = run("add", "--index", "a", write("bad.md"))
    assert failed.status == 1
    assert "failed with status 500" in failed.out
    assert run("retry", "--index", "a").status == 1
    service.recovers()
    retried = run("retry", "--index", "a", "--json")
    assert (retried.status, [Path(line["source"]).name for line in retried.objects]) == (0, ["bad.md"])
    assert (run("retry", "--index", "a").out, run("retry", "--index", "a").status) == ("", 0)


# Indexes


def test_another_model_is_refused_with_the_command_and_the_command_works(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "--index", "旅費 規程", write("a.md"))
    monkeypatch.setenv("EMBEDDING_MODEL", "model-b")
    refused = run("search", "--index", "旅費 規程", "part")
    assert refused.status == 1
    assert "python -m index_store reindex --index '旅費 規程'" in refused.err
    assert run("add", "--index", "旅費 規程", write("b.md")).err == refused.err
    done = run("reindex", "--index", "旅費 規程", "--json")
    assert (done.status, [line["status"] for line in done.objects]) == (0, ["ready"])
    assert run("search", "--index", "旅費 規程", "part").status == 0


def test_a_reindex_for_which_the_service_fails_says_so(run: Run, service: EmbeddingService, write: Write) -> None:
    run("add", "--index", "a", write("a.md"))
    service.fails(Refusal(500))
    done = run("reindex", "--index", "a")
    assert (done.status, done.out) == (1, "")
    assert "failed with status 500" in done.err
    service.recovers()
    assert run("search", "--index", "a", "part").status == 0


def test_an_index_is_renamed_and_dropped(run: Run, write: Write, data_dir: Path) -> None:
    run("add", "--index", "a", write("a.md"))
    assert run("rename", "--index", "a", "規程").out == "renamed  a  規程\n"
    assert run("search", "--index", "規程", "part").status == 0
    run("add", "--index", "other", write("a.md"))
    taken = run("rename", "--index", "other", "規程", "--json")
    assert (taken.status, taken.objects[0]["error"]["code"]) == (1, "index_exists")
    assert run("drop", "--index", "規程", "--json").objects == [{"index": "規程", "status": "dropped"}]
    assert [line["name"] for line in run("list", "--json").objects] == ["other"]
    assert run("drop", "--index", "規程").status == 1
    assert run("check").status == 0
    assert len(list((data_dir / "originals").glob("??/*"))) == 1


@pytest.mark.soak
def test_what_differs_is_said_and_fails(run: Run, write: Write, data_dir: Path) -> None:
    run("add", "--index", "a", write("a.md"))
    assert (run("check").status, run("check").out) == (0, "")
    next((data_dir / "originals").glob("??/*")).unlink()
    (line,) = run("check", "--json").objects
    assert (line["index"], Path(line["source"]).name, line["what"]) == ("a", "a.md", "original_gone")
    plain = run("check", "--language", "ja")
    assert plain.status == 1
    assert "元のファイルがありません" in plain.out


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "--index", "none", "x"], "unknown_index"),
        (["search", "--index", "a", " "], "empty_question"),
        (["search", "--index", "a", "x" * 4001], "question_too_long"),
        (["search", "--index", "a", "--mode", "magic", "x"], "unknown_mode"),
        (["search", "--index", "a", "--unit", "page", "x"], "unknown_unit"),
        (["search", "--index", "a", "--queries", "none.jsonl"], "queries_unreadable"),
        (["add", "--index", "a/b", "x"], "bad_index_name"),
        (["add", "--index", "a", "https://example.com", "--depth", "21"], "bad_crawl_option"),
        pytest.param(
            ["add", "--index", "a", "https://example.com", "--limit", "0"], "bad_crawl_option", marks=pytest.mark.soak
        ),
        (["add", "--index", "a", "https://example.com", "--include", "docs"], "bad_pattern"),
        (["add", "--index", "a", "ftp://example.com"], "bad_address"),
        (["add", "--index", "a", "https://me:secret@example.com"], "address_with_password"),
        pytest.param(["remove", "--index", "none", "x"], "unknown_index", marks=pytest.mark.soak),
        pytest.param(["retry", "--index", "none"], "unknown_index", marks=pytest.mark.soak),
        (["reindex", "--index", "none"], "unknown_index"),
        pytest.param(["rename", "--index", "none", "b"], "unknown_index", marks=pytest.mark.soak),
        pytest.param(["rename", "--index", "a", ".."], "bad_index_name", marks=pytest.mark.soak),
        (["drop", "--index", "none"], "unknown_index"),
        pytest.param(["list", "--index", "none"], "unknown_index", marks=pytest.mark.soak),
    ],
)
def test_an_error_of_the_command_is_one_object_or_one_sentence(run: Run, arguments: list[str], code: str) -> None:
    with IndexStore() as store:
        store.create_index("a")
    done = run(*arguments, "--json")
    (line,) = done.objects
    assert line["error"]["code"] == code
    assert line["error"]["ja"] != line["error"]["en"]
    assert "secret" not in done.out
    assert done.status == 1
    plain = run(*arguments)
    assert (plain.out, plain.err.strip()) == ("", line["error"]["en"])


@pytest.mark.parametrize(
    "line",
    [
        "search --index a -k 99999999999999999999 x",
        "", "fly", "add x", "add --index a", "add --index a x --depth deep", "search --index a",
        "search --index a -k 0 x", "search --index a -k many x", "rename --index a", "list --language fr",
        "people", "people fly", "people add", "people add x --role king", "people role x", "people role x king",
        "grants", "grants give --index a read", "grants give --index a --everyone", "grants give --everyone read",
        "grants give --index a --everyone own", "grants take --index a",
        "grants give --index a --everyone --group b read",
    ],
)  # fmt: skip
def test_a_command_that_is_none_is_told_with_how_it_is_called(
    line: str, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: python -m index_store")
    assert not data_dir.exists()


def test_a_wrong_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNK_SIZE", "many")
    done = run("list")
    assert "CHUNK_SIZE" in done.err
    assert "50 to 2000" in done.err
    assert done.status == 1


def test_a_folder_in_use_says_by_whom(run: Run, settings: Settings) -> None:
    with IndexStore(settings):
        done = run("list", "--json")
    assert str(os.getpid()) in done.objects[0]["error"]["en"]


@pytest.mark.sqlite_alone
def test_a_folder_that_cannot_be_used_or_is_damaged_is_told(run: Run, data_dir: Path) -> None:
    data_dir.write_text("This is a file.")
    done = run("list")
    assert (done.status, str(data_dir) in done.err) == (1, True)
    data_dir.unlink()
    data_dir.mkdir()
    (data_dir / "catalogue.sqlite3").write_bytes(b"This is no database. " * 100)
    done = run("list", "--language", "ja")
    assert (done.status, "catalogue.sqlite3" in done.err) == (1, True)

"""The audit log: what is written to disk, read again, deleted after its time, and listed by the command line."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.access.audit import audit as audit_module
from index_store.access.audit.audit import FOLDER, Audit, EntryFilter
from index_store.access.audit.entry import LONGEST, MOST, Action, Entry
from index_store.access.principal import LOCAL, Principal, Role
from index_store.base.settings.settings import Settings
from index_store.commands import main
from index_store.store.index_store import IndexStore
from tests.helpers.full_disk import full_disk, linux

ALICE = Principal("a1", "Alice", "alice@example.com", Role.EDITOR)
BOB = Principal("b2", "", "bob@example.com", Role.READER)


@pytest.fixture
def audit(settings: Settings) -> Audit:
    return Audit(settings)


def lines(settings: Settings) -> list[str]:
    return [line for file in files(settings) for line in file.read_text(encoding="utf-8").splitlines()]


def files(settings: Settings) -> list[Path]:
    return sorted((settings.data_dir / FOLDER).glob("*.jsonl"))


def actions(entries: list[Entry]) -> list[str]:
    return [each.action for each in entries]


# Writing


def test_each_thing_done_is_a_line_of_json_that_says_who_did_what_when(audit: Audit, settings: Settings) -> None:
    audit.note(Action.ADDED, ALICE, index="規程", sources=["a.pdf", "b.pdf"])
    audit.note(Action.SIGNED_OUT, BOB)
    first, second = map(json.loads, lines(settings))
    assert datetime.fromisoformat(first.pop("at")).tzinfo == UTC
    assert first == {
        "action": "added", "person": "a1", "index": "規程", "facts": {"sources": ["a.pdf", "b.pdf"]},
    }  # fmt: skip
    assert (second["person"], second["action"]) == ("b2", "signed_out")
    assert not [each for each in ("Alice", "example.com") if each in "".join(lines(settings))]


def test_it_is_for_its_account_alone(audit: Audit, settings: Settings) -> None:
    audit.note(Action.SIGNED_IN, ALICE)
    [file] = files(settings)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("keeps", [False, True])
def test_the_text_of_a_question_is_kept_only_where_the_settings_have_it_so(settings: Settings, keeps: bool) -> None:
    audit = Audit(settings.model_copy(update={"audit_questions": keeps}))
    audit.note(Action.ASKED, ALICE, index="規程", question="給与はいくらですか", tokens=812)
    [entry] = audit.read().entries
    assert entry.facts == ({"tokens": 812, "question": "給与はいくらですか"} if keeps else {"tokens": 812})


def test_no_key_no_password_and_no_token_of_an_address_is_ever_written(settings: Settings) -> None:
    with_key = settings.model_copy(update={"openai_api_key": SecretStr("sk-very-secret"), "audit_questions": True})
    audit = Audit(with_key)
    audit.note(
        Action.ADDED,
        Principal("a1", "Alice sk-very-secret", "", Role.EDITOR),
        index="sk-very-secret",
        sources=["https://alice:p@ssw0rd@wiki.example.com/a?token=t0ken#part", "HTTP://bob@example.com?x=t0ken"],
        question="What is sk-very-secret, and https://example.com/login?password=p@ssw0rd for?",
    )
    text = (settings.data_dir / FOLDER / f"{datetime.now(UTC):%Y-%m-%d}.jsonl").read_text(encoding="utf-8")
    assert not [each for each in ("secret", "p@ss", "ssw0rd", "t0ken") if each in text]
    [entry] = audit.read().entries
    assert entry.facts["sources"] == ["https://wiki.example.com/a", "HTTP://example.com"]
    assert entry.facts["question"] == "What is ***, and https://example.com/login for?"


def test_a_placeholder_in_place_of_a_key_hides_no_name_and_no_id(settings: Settings) -> None:
    audit = Audit(settings.model_copy(update={"openai_api_key": SecretStr("test")}))
    audit.note(Action.ADDED, ALICE, index="latest rules", sources=["test.md"])
    [entry] = audit.read().entries
    assert (entry.index, entry.facts["sources"]) == ("latest rules", ["test.md"])


def test_what_is_long_is_cut_and_what_is_no_text_is_written_all_the_same(audit: Audit) -> None:
    audit.note(Action.ADDED, ALICE, sources=["x" * 1000, "\udc80"] + ["y"] * MOST)
    [entry] = audit.read().entries
    assert len(entry.facts["sources"][0]) == LONGEST
    assert entry.facts["sources"][1] == "?"
    assert entry.facts["sources"][-1] == "+2"


def test_lines_of_many_threads_and_of_another_process_stay_whole(
    audit: Audit, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = 60  # seconds; after the usual two, an entry is lost while a process is paused that holds the lock
    monkeypatch.setattr(audit_module, "PATIENCE", patience)
    code = (
        "import sys; from pathlib import Path\n"
        f"from index_store.access.audit import audit; audit.PATIENCE = {patience}\n"
        "from index_store.access.principal import LOCAL; from index_store.access.audit.audit import Audit\n"
        "from index_store.access.audit.entry import Action; from index_store.base.settings.settings import Settings\n"
        "log = Audit(Settings(data_dir=Path(sys.argv[1])))\n"
        "for n in range(100): log.note(Action.ADDED, LOCAL, index='other', sources=['z' * 200] * 20)\n"
    )
    root = Path(__file__).parents[4]
    other = subprocess.Popen([sys.executable, "-c", code, str(settings.data_dir)], cwd=root)
    with ThreadPoolExecutor(8) as threads:
        for number in range(200):
            threads.submit(audit.note, Action.ASKED, ALICE, index="one", number=number)
    assert other.wait() == 0
    entries = audit.read(latest=None).entries
    assert sorted(each.facts["number"] for each in entries if each.index == "one") == list(range(200))
    assert actions(entries).count("added") == 100
    assert len(entries) == 300
    assert audit.lost is None


@linux
def test_a_full_disk_blocks_no_action_and_the_log_later_counts_the_lost_entries(
    audit: Audit, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    note = lambda: audit.note(Action.ASKED, ALICE, pipeline="p" * 250)  # noqa: E731
    with caplog.at_level(logging.ERROR), full_disk():
        for _ in range(40):
            note()
    whole = lines(settings)
    assert all(json.loads(line)["action"] == "asked" for line in whole)
    assert audit.lost is not None
    assert audit.lost.entries == 40 - len(whole)
    assert len([each for each in caplog.records if "can't be written" in each.message]) == 1
    lost = audit.lost.entries
    note()
    assert audit.lost is None
    latest = audit.read(latest=2).entries
    assert actions(latest) == ["asked", "lost"]
    assert latest[1].facts["count"] == lost


def test_a_line_that_a_power_cut_has_torn_is_shown_as_such_and_costs_no_other(audit: Audit, settings: Settings) -> None:
    audit.note(Action.SIGNED_IN, ALICE)
    [file] = files(settings)
    file.write_bytes(file.read_bytes() + b'{"at":"2026-')
    audit.note(Action.SIGNED_OUT, ALICE)
    assert actions(audit.read().entries) == ["signed_out", "unreadable", "signed_in"]


def test_an_action_of_a_newer_version_is_read(audit: Audit, settings: Settings) -> None:
    audit.note(Action.SIGNED_IN, ALICE)
    [file] = files(settings)
    file.write_text(file.read_text().replace("signed_in", "levitated"))
    assert actions(audit.read().entries) == ["levitated"]


# Reading


@pytest.fixture
def noted(audit: Audit) -> Audit:
    audit.note(Action.SIGNED_IN, ALICE)
    audit.note(Action.ADDED, ALICE, index="規程", sources=["Travel.pdf"])
    audit.note(Action.ASKED, BOB, index="規程", pipeline="self_rag", tokens=100)
    audit.note(Action.ASKED, ALICE, index="IT", pipeline="naive", tokens=7)
    return audit


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (EntryFilter(), ["asked", "asked", "added", "signed_in"]),
        (EntryFilter(person="b2"), ["asked"]),
        (EntryFilter(person="bob", called_so=frozenset({"b2", "c3"})), ["asked"]),
        (EntryFilter(person="a"), []),
        (EntryFilter(action="added"), ["added"]),
        (EntryFilter(index="規程"), ["asked", "added"]),
        (EntryFilter(words="travel 規程"), ["added"]),
        (EntryFilter(words="ＴＲＡＶＥＬ　規程"), ["added"]),
        (EntryFilter(words="travel naive"), []),
        (EntryFilter(action="asked", index="IT", person="a1"), ["asked"]),
    ],
)
def test_what_is_wanted_is_found_the_latest_first(noted: Audit, filters: EntryFilter, found: list[str]) -> None:
    assert actions(noted.read(filters).entries) == found


@pytest.mark.parametrize("words", ['a "draft"', r"\\server\docs", 'R&D\\"x"'])
def test_signs_that_json_writes_in_another_way_are_found_as_they_are_typed(audit: Audit, words: str) -> None:
    audit.note(Action.ADDED, ALICE, index=r'R&D\"x"', sources=['a "draft".pdf', r"\\server\docs\rules.pdf"])
    assert actions(audit.read(EntryFilter(words=words)).entries) == ["added"]


def test_of_a_time_only_what_was_done_in_it_is_found(noted: Audit) -> None:
    *_, second, _ = noted.read().entries
    assert actions(noted.read(EntryFilter(since=second.at)).entries) == ["asked", "asked", "added"]
    assert actions(noted.read(EntryFilter(until=second.at)).entries) == ["signed_in"]
    assert actions(noted.read(EntryFilter(until=second.at - timedelta(days=3))).entries) == []


def write_days(settings: Settings, days: int, a_day: int) -> None:
    folder = settings.data_dir / FOLDER
    folder.mkdir(parents=True)
    for age in range(days):
        at = datetime.now(UTC) - timedelta(days=age)
        entries = [Entry(at=at, action="asked", person="a1", facts={"age": age, "n": n}) for n in range(a_day)]
        text = "".join(f"{each.model_dump_json()}\n" for each in entries)
        (folder / f"{at:%Y-%m-%d}.jsonl").write_text(text)


def test_pages_go_through_all_days_and_nothing_that_is_done_meanwhile_moves_them(
    audit: Audit, settings: Settings
) -> None:
    write_days(settings, days=3, a_day=5)
    entries, before = audit.read(latest=4)
    while before:
        audit.note(Action.SIGNED_IN, BOB)
        page = audit.read(latest=4, before=before)
        entries, before = entries + page.entries, page.before
    told = [(each.facts["age"], each.facts["n"]) for each in entries]
    assert told == [(age, n) for age in range(3) for n in (4, 3, 2, 1, 0)]


def test_the_last_page_says_that_it_is_the_last_also_when_it_is_full(noted: Audit) -> None:
    assert noted.read(latest=4).before is None
    assert noted.read(latest=3).before is not None


def test_without_anything_noted_there_is_nothing(audit: Audit) -> None:
    assert audit.read() == ([], None)


# Deletion after its time


def test_a_day_goes_when_its_time_is_over_and_not_before(settings: Settings) -> None:
    write_days(settings, days=10, a_day=1)
    with IndexStore(settings.model_copy(update={"audit_days": 7})):
        assert [json.loads(line)["facts"]["age"] for line in lines(settings)] == [7, 6, 5, 4, 3, 2, 1, 0]


def test_where_nothing_is_to_be_kept_nothing_is_written_and_what_was_goes(settings: Settings) -> None:
    Audit(settings).note(Action.SIGNED_IN, ALICE)
    off = Audit(settings.model_copy(update={"audit_days": 0}))
    off.note(Action.SIGNED_IN, ALICE)
    assert len(lines(settings)) == 1
    off.sweep()
    assert not files(settings)


def test_a_file_of_somebody_else_in_its_folder_is_left_alone(noted: Audit, settings: Settings) -> None:
    other = settings.data_dir / FOLDER / "notes.jsonl"
    other.write_text("mine\n")
    Audit(settings.model_copy(update={"audit_days": 0})).sweep()
    assert other.exists()
    assert noted.read().entries == []


# The command line


@pytest.fixture
def run(noted: Audit, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    def run(*arguments: str) -> list[str]:
        assert main(["audit", *arguments]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_the_command_line_lists_it_the_latest_last(run: Callable[..., list[str]]) -> None:
    assert [line.split("  ")[1] for line in run()] == ["signed_in", "added", "asked", "asked"]
    assert run("--latest", "1")[0].endswith("  asked  a1  IT  pipeline=naive  tokens=7")
    assert len(run("--latest", "0")) == 4


def test_the_command_line_filters_and_gives_json(run: Callable[..., list[str]]) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    [line] = run("--json", "--person", "b2", "--action", "asked", "--index", "規程", "--since", today, "--until", today)
    assert json.loads(line)["facts"] == {"pipeline": "self_rag", "tokens": 100}
    assert run("--since", "2999-01-01") == run("--until", "2000-01-01") == []
    assert run("--since", "0001-01-01", "--until", "9999-12-31") == run()


def test_a_name_with_a_line_break_or_a_command_for_the_terminal_forges_no_line(
    run: Callable[..., list[str]], audit: Audit
) -> None:
    forged = "x\n2026-11-23 10:00:00  role_set  a11ce\r\x1b[2K\x9b2K\u202e.txt"
    audit.note(Action.ADDED, BOB, index=forged, sources=[forged, "日当.pdf"])
    told = "x 2026-11-23 10:00:00  role_set  a11ce  [2K 2K .txt"
    assert run("--latest", "1")[0].endswith(f"  added  b2  {told}  sources={told}, 日当.pdf")
    assert len(run("--latest", "1")) == 1
    [as_json] = run("--latest", "1", "--json")
    assert json.loads(as_json)["index"] == forged


def test_what_the_command_line_does_with_people_and_grants_is_noted(settings: Settings, serviced: Settings) -> None:
    with IndexStore(serviced) as store:
        store.create_index("IT")
    for words in (
        "people add alice@example.com", "people role alice@example.com editor", "people disable alice@example.com",
        "people enable alice@example.com", "grants give --index IT --everyone read",
        "grants take --index IT --everyone", "grants own --index IT --person alice@example.com",
    ):  # fmt: skip
        assert main(words.split()) == 0
    *entries, _ = Audit(settings).read().entries  # all except the entry of the new index
    assert actions(entries)[::-1] == [
        "person_added", "role_set", "disabled", "enabled", "granted", "grant_taken", "owner_set",
    ]  # fmt: skip
    assert {each.person for each in entries} == {LOCAL.id}
    assert entries[-2].facts["role"] == "editor"

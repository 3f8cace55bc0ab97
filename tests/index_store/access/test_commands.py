import json
from collections.abc import Callable

import pytest
from sqlalchemy import text

from index_store.access.people.recognition import SignInClaims
from index_store.base.settings.settings import Settings
from index_store.commands import main
from index_store.store.index_store import IndexStore
from tests.helpers.by_hand import by_hand
from tests.index_store.access.conftest import claim

Run = Callable[..., list[dict]]


@pytest.fixture
def run(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("people", "list")` returns what the command prints with --json. It must print nothing to standard error."""

    def run(*arguments: str, status: int = 0) -> list[dict]:
        assert main([*arguments, "--json"]) == status
        out, err = capsys.readouterr()
        assert err == ""
        return [json.loads(line) for line in out.splitlines()]

    return run


def test_people_are_added_given_roles_and_put_out(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    [alice] = run("people", "add", "alice@example.com", "--role", "admin")
    assert (alice["mail"], alice["role"], alice["role_is_given"]) == ("alice@example.com", "admin", True)
    assert run("people", "list") == [alice]
    [now] = run("people", "role", "alice@example.com", "claimed")
    assert (now["role"], now["role_is_given"]) == ("reader", False)
    [now] = run("people", "disable", alice["id"])
    assert now["disabled_at"] is not None
    assert main(["people", "list"]) == 0
    text = capsys.readouterr().out
    assert text == f"{alice['id']}  reader  alice@example.com  disabled  has not signed in\n"
    assert run("people", "enable", "Alice@example.com")[0]["disabled_at"] is None
    [erased] = run("people", "erase", "alice@example.com")
    assert (erased["id"], erased["mail"], erased["subject"]) == (alice["id"], "", alice["id"])
    assert run("people", "list") == []


def test_grants_are_given_and_taken(run: Run, capsys: pytest.CaptureFixture[str], serviced: Settings) -> None:
    with IndexStore(serviced) as store:
        store.create_index("規程")
    [alice] = run("people", "add", "alice@example.com")
    assert run("grants", "list") == [{"index": "規程", "right": "own", "kind": None, "name": None}]
    run("grants", "own", "--index", "規程", "--person", "alice@example.com")
    run("grants", "give", "--index", "規程", "--everyone", "read")
    run("grants", "give", "--index", "規程", "--account", "Bob@example.com", "read")
    run("grants", "give", "--index", "規程", "--group", "人事部", "manage")
    [typed] = run("grants", "give", "--index", "規程", "--account", "山田　花 <hana＠example.com>", "read")
    assert typed == {"index": "規程", "right": "read", "kind": "account", "name": "hana@example.com"}
    run("grants", "take", "--index", "規程", "--account", "ｈａｎａ＠example.com")
    [given] = run("grants", "give", "--index", "規程", "--person", alice["id"], "write")
    assert given == {"index": "規程", "right": "write", "kind": "person", "name": alice["id"]}
    [taken] = run("grants", "take", "--index", "規程", "--everyone")
    assert taken == {"index": "規程", "right": "none", "kind": "everyone", "name": ""}
    assert main(["grants", "list", "--index", "規程"]) == 0
    assert capsys.readouterr().out == (
        f"規程  own  person  {alice['id']}  alice@example.com\n"
        "規程  read  account  bob@example.com\n"
        "規程  manage  group  人事部\n"
        f"規程  write  person  {alice['id']}  alice@example.com\n"
    )
    assert run("grants", "own", "--index", "規程") == [{"index": "規程", "right": "own", "kind": None, "name": None}]


def test_both_are_managed_while_the_app_runs(run: Run, serviced: Settings) -> None:
    with IndexStore(serviced) as store:
        store.create_index("a")
        alice = store.access.people.signed_in(claim("alice"))
        run("grants", "give", "--index", "a", "--person", "alice", "read")
        assert [index.name for index in store.as_user(lambda: alice).indexes()] == ["a"]
        run("people", "disable", "alice")
        assert store.access.people.current(alice.id) is None
        run("list", status=1)  # still refused while the app has the store open


def test_a_folder_that_an_app_of_another_version_has_open_is_left_to_it(run: Run, serviced: Settings) -> None:
    with IndexStore(serviced):
        with by_hand(serviced) as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '0002'"))
        [refused] = run("people", "list", status=1)
    assert refused["error"]["code"] == "store_in_use"


REFUSALS = [
    (["people", "role", "nobody", "admin"], "unknown_person"),
    (["people", "disable", "nobody"], "unknown_person"),
    (["people", "add", "bob"], "person_exists"),
    (["people", "add", " "], "no_person_named"),
    (["people", "disable", "alice"], "last_admin"),
    (["people", "role", "alice", "editor"], "last_admin"),
    (["people", "enable", "twice"], "ambiguous_person"),
    (["grants", "list", "--index", "none"], "unknown_index"),
    (["grants", "give", "--index", "none", "--everyone", "read"], "unknown_index"),
    (["grants", "take", "--index", "none", "--everyone"], "unknown_index"),
    (["grants", "own", "--index", "a", "--person", "nobody"], "unknown_person"),
    (["grants", "give", "--index", "a", "--person", "nobody", "read"], "unknown_person"),
]


def test_each_refusal_is_one_sentence_in_each_language(
    run: Run, serviced: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with IndexStore(serviced) as store:
        store.create_index("a")
        for subject in ("alice", "bob", "twice"):
            store.access.people.signed_in(claim(subject))
        store.access.people.signed_in(SignInClaims("https://elsewhere.example", "twice"))
        run("people", "role", "alice", "admin")
    told = []
    for arguments, _ in REFUSALS:
        [line] = run(*arguments, status=1)
        told.append((arguments, line["error"]["code"]))
        for language in ("en", "ja"):
            assert main([*arguments, "--language", language]) == 1
            assert capsys.readouterr().err.strip() == line["error"][language]
        assert line["error"]["ja"] != line["error"]["en"]
    assert told == REFUSALS


def test_bytes_that_are_no_text_name_nobody_and_nothing(run: Run, serviced: Settings) -> None:
    with IndexStore(serviced) as store:
        store.create_index("a")
    assert run("people", "disable", "\udc80", status=1)[0]["error"]["code"] == "unknown_person"
    assert run("grants", "list", "--index", "\udc80", status=1)[0]["error"]["code"] == "unknown_index"
    assert run("people", "add", "caf\udce9")[0]["subject"] == "caf?"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["people", "list"], "Nobody has signed in yet"),
        (["grants", "list"], "There is no index yet"),
        (["audit", "--words", "of nobody"], "No entry matches"),
        (["people", "list", "--language", "ja"], "サインインした人はまだいません"),
        (["grants", "list", "--language", "ja"], "インデックスはまだありません"),
        (["audit", "--words", "of nobody", "--language", "ja"], "条件に合う記録はありません"),
    ],
)
def test_where_there_is_nothing_to_list_that_is_said(
    serviced: Settings, capsys: pytest.CaptureFixture[str], command: list[str], told: str
) -> None:
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert told in err + out


def test_a_number_of_entries_below_none_is_refused(serviced: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["audit", "--latest", "-3"])
    assert "0 or more" in capsys.readouterr().err

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from index_store.access.access import Access, open_access
from index_store.access.grants import EVERYONE, Grantee
from index_store.access.people.people import People
from index_store.access.people.recognition import NOTED_EVERY, SignInClaims
from index_store.access.principal import LOCAL, Principal, Role
from index_store.access.rights import GranteeKind, Right
from index_store.base import errors
from index_store.base.database.database import backend_of
from index_store.base.settings.settings import Settings
from index_store.catalogue import schema
from index_store.library.opening import open_catalogue
from tests.helpers.by_hand import by_hand
from tests.index_store.access.conftest import claim


@contextmanager
def opened(settings: Settings, **changed: str) -> Iterator[People]:
    with open_access(settings.model_copy(update=changed)) as access:
        yield access.people


# Signing in


def test_whoever_signs_in_is_known_from_then_on(people: People) -> None:
    alice = people.signed_in(claim("alice", groups=frozenset({"sales", "tokyo"})))
    names = frozenset({"alice", "alice@example.com"})
    assert alice == Principal(alice.id, "Alice", "alice@example.com", Role.READER, frozenset({"sales", "tokyo"}), names)
    assert people.current(alice.id) == alice
    [listed] = people.all()
    assert (listed.id, listed.issuer, listed.subject) == (alice.id, "https://id.example.com", "alice")
    assert listed.groups == ("sales", "tokyo")
    assert datetime.now(UTC) - listed.created_at < timedelta(minutes=5)


def test_what_is_claimed_anew_takes_the_place_of_what_was(people: People) -> None:
    before = people.signed_in(claim("alice", groups=frozenset({"sales"})))
    after = people.signed_in(claim("alice", name="アリス", mail="alice@example.org", groups=frozenset({"hr"})))
    assert (after.id, after.name, after.mail) == (before.id, "アリス", "alice@example.org")
    assert after.groups == {"hr"}
    assert people.current(before.id) == after


def test_the_same_subject_of_another_issuer_is_someone_else_whatever_the_mail_address(people: People) -> None:
    here = people.signed_in(claim("alice"))
    there = people.signed_in(SignInClaims("https://elsewhere.example", "alice", "Alice", "alice@example.com", True))
    assert there.id != here.id


@pytest.mark.parametrize(("issuer", "subject"), [("", "alice"), (" ", "alice"), ("https://id.example.com", "")])
def test_a_sign_in_that_names_nobody_lets_nobody_in(people: People, issuer: str, subject: str) -> None:
    people.add("alice", Role.ADMIN)
    with pytest.raises(errors.SignInIncomplete):
        people.signed_in(SignInClaims(issuer, subject))


def test_tabs_that_sign_in_at_once_are_one_person(settings: Settings) -> None:
    """Like two processes: they share only the file."""
    with open_access(settings) as one, open_access(settings) as other, ThreadPoolExecutor(4) as tabs:
        together = Barrier(4)

        def sign_in(people: People, subject: str) -> str:
            together.wait()
            return people.signed_in(claim(subject)).id

        for number in range(8):
            ids = tabs.map(sign_in, [one.people, other.people] * 2, [f"person{number}"] * 4)
            assert len(set(ids)) == 1
        assert len(one.people.all()) == 8


def test_a_name_that_goes_on_and_on_is_cut_and_one_that_is_no_text_is_kept_as_text(people: People) -> None:
    alice = people.signed_in(claim("alice", name="a" * 100_000, mail="\udc80", groups=frozenset({" ", "", " hr "})))
    assert (len(alice.name), alice.mail, alice.groups) == (200, "?", {"hr"})
    assert people.signed_in(claim("s" * 1000)).id != people.signed_in(claim("s" * 1001)).id


# Roles


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["boss"], Role.ADMIN), (["writers"], Role.EDITOR), (["writers", "boss"], Role.ADMIN), (["Boss"], Role.READER),
        (["others"], Role.READER), ([], Role.READER),
    ],
)  # fmt: skip
def test_the_groups_of_a_claim_make_a_role(settings: Settings, groups: list[str], role: Role) -> None:
    with opened(settings, admin_groups="boss, root", editor_groups="writers") as people:
        assert people.signed_in(claim("alice", groups=frozenset(groups))).role is role


def test_a_person_without_a_role_group_has_the_default_role(settings: Settings) -> None:
    with opened(settings, default_role="editor") as people:
        assert people.signed_in(claim("alice")).role is Role.EDITOR


@pytest.mark.parametrize("admins", ["alice@example.com", "bob, Alice@Example.COM", "alice"])
def test_the_first_admin_is_whom_the_setting_names_by_mail_address_or_subject(settings: Settings, admins: str) -> None:
    with opened(settings, admins=admins) as people:
        assert people.signed_in(claim("alice")).role is Role.ADMIN


@pytest.mark.parametrize("address", ["alice＠example.com", "ａｌｉｃｅ@example.com", "Alice <alice@example.com>"])
def test_an_admin_is_named_as_japanese_keyboards_write_addresses_and_mail_programs_copy_them(
    settings: Settings, address: str
) -> None:
    with opened(settings, admins=f"bob, {address}") as people:
        assert people.signed_in(claim("alice")).role is Role.ADMIN
        assert people.signed_in(claim("mallory", mail=address)).role is Role.READER


@pytest.mark.parametrize(
    ("admins", "told"),
    [
        ("boss@example.com", {"mail": "boss@example.com", "mail_is_verified": False}),
        ("back@example.com", {"mail": "bac\N{KELVIN SIGN}@example.com"}),
        ("", {"mail": ""}),
        (",", {"mail": ","}),
        ("boss@example.com", {"name": "boss@example.com"}),
    ],
    ids=["not verified", "a letter that looks alike", "none is named", "a comma", "a display name"],
)
def test_nobody_becomes_an_admin_by_what_they_only_say_of_themselves(
    settings: Settings, admins: str, told: dict[str, object]
) -> None:
    with opened(settings, admins=admins) as people:
        assert people.signed_in(claim("mallory", **told)).role is Role.READER


def test_a_role_given_by_hand_stands_above_the_claim_until_it_is_taken_back(settings: Settings) -> None:
    with opened(settings, editor_groups="writers", admins="root") as people:
        people.signed_in(claim("root"))
        alice = people.signed_in(claim("alice", groups=frozenset({"writers"})))
        assert people.set_role(alice.id, Role.READER).role_is_given
        assert people.signed_in(claim("alice", groups=frozenset({"writers"}))).role is Role.READER
        assert people.set_role(alice.id, None).role is Role.EDITOR


def test_a_setting_counts_from_the_next_start_for_those_who_are_signed_in_too(settings: Settings) -> None:
    with opened(settings, admins="alice, root") as people:
        alice = people.signed_in(claim("alice"))
        assert alice.role is Role.ADMIN
    with opened(settings, admins="root") as people:
        now = people.current(alice.id)
        assert now is not None
        assert now.role is Role.READER


# Added before they sign in


@pytest.mark.parametrize(
    ("added_as", "signs_in"),
    [
        ("alice", claim("alice")),
        ("Alice@Example.com", claim("17", mail="alice@example.com")),
        ("alice@example.com", SignInClaims("X-Forwarded-User", "Alice@Example.com")),
        ("ａｌｉｃｅ＠ｅｘａｍｐｌｅ．ｃｏｍ", claim("17", mail="alice@example.com")),  # a Japanese keyboard
        ("有栖　花 <Alice@example.com>", claim("17", mail="alice@example.com")),  # copied from a mail
        ("alice＠例え.example", claim("alice＠例え.example")),
    ],
)
def test_who_was_added_by_subject_or_mail_address_has_what_was_given_them(
    people: People, added_as: str, signs_in: SignInClaims
) -> None:
    added = people.add(added_as, Role.EDITOR)
    assert added.issuer == ""
    assert people.signed_in(signs_in) == people.current(added.id)
    [alice] = people.all()
    assert (alice.role, alice.subject, alice.issuer) == (Role.EDITOR, signs_in.subject, signs_in.issuer)


@pytest.mark.parametrize("subject", ["ｂｏｓｓ＠example.com", "Mallory <boss@example.com>"])
def test_nobody_takes_the_place_of_who_was_added_by_claiming_what_only_a_keyboard_may_mean(
    people: People, subject: str
) -> None:
    people.add("boss@example.com", Role.ADMIN)
    mallory = people.signed_in(SignInClaims("https://id.example.com", subject, mail=subject, mail_is_verified=True))
    assert mallory.role is Role.READER
    assert people.find("ＢＯＳＳ＠example.com").issuer == ""


def test_nobody_takes_the_place_of_who_was_added_by_an_address_that_is_not_verified(people: People) -> None:
    people.add("boss@example.com", Role.ADMIN)
    mallory = people.signed_in(claim("mallory", mail="boss@example.com", mail_is_verified=False))
    assert mallory.role is Role.READER
    assert len(people.all()) == 2


@pytest.mark.parametrize("by_hand", [None, Role.READER])
def test_who_was_added_by_an_address_stands_once_in_the_list_when_it_is_verified_after_the_first_sign_in(
    people: People, by_hand: Role | None
) -> None:
    people.add("boss@example.com", Role.ADMIN)
    boss = people.signed_in(claim("17", mail="boss@example.com", mail_is_verified=False))
    if by_hand:
        people.set_role(boss.id, by_hand)
    verified = people.signed_in(claim("17", mail="boss@example.com"))
    [listed] = people.all()
    assert listed.id == verified.id == boss.id
    assert listed.role is (by_hand or Role.ADMIN)
    assert people.find("boss@example.com") == listed


def test_an_address_that_was_added_and_disabled_lets_in_nobody_who_has_it_verified_later(people: People) -> None:
    people.disable(people.add("boss@example.com").id)
    boss = people.signed_in(claim("17", mail="boss@example.com", mail_is_verified=False))
    with pytest.raises(errors.AccessWithdrawn):
        people.signed_in(claim("17", mail="boss@example.com"))
    assert people.current(boss.id) is None


@pytest.mark.parametrize("again", ["alice@example.com", "ALICE@example.com"])
def test_nobody_is_added_twice(people: People, again: str) -> None:
    people.add("alice@example.com")
    with pytest.raises(errors.PersonExists):
        people.add(again)
    people.signed_in(claim("17", mail="alice@example.com"))
    with pytest.raises(errors.PersonExists):
        people.add(again)


def test_one_is_found_by_id_mail_address_or_subject_and_not_by_what_several_have(people: People) -> None:
    alice = people.signed_in(claim("alice"))
    for name in (alice.id, "alice", "Alice@example.com"):
        assert people.find(name).id == alice.id
    people.signed_in(SignInClaims("https://elsewhere.example", "alice"))
    with pytest.raises(errors.AmbiguousPerson):
        people.find("alice")
    for name in ("", "%", "_lice@example.com", "bob"):
        with pytest.raises(errors.UnknownPerson):
            people.find(name)


# Disabled and erased


def test_who_is_disabled_is_out_with_the_next_action_and_can_not_sign_in(people: People) -> None:
    alice = people.signed_in(claim("alice"))
    assert people.disable(alice.id).disabled_at is not None
    assert people.current(alice.id) is None
    for claimed in (claim("alice"), claim("alice", groups=frozenset({"new"}))):
        with pytest.raises(errors.AccessWithdrawn):
            people.signed_in(claimed)
    people.enable(alice.id)
    assert people.signed_in(claim("alice")) == people.current(alice.id)


def test_who_was_disabled_before_signing_in_does_not_come_in(people: People) -> None:
    people.disable(people.add("alice@example.com").id)
    with pytest.raises(errors.AccessWithdrawn):
        people.signed_in(claim("17", mail="alice@example.com"))


def test_an_erased_person_leaves_only_an_id_and_the_same_claim_becomes_a_new_person(
    access: Access, settings: Settings
) -> None:
    people, grants = access.people, access.grants
    people.signed_in(claim("root"))
    with open_catalogue(settings) as catalogue:
        catalogue.indexes.create("0" * 32, "plans", "model", "collection", analysis="a", owner_id=None)
    alice = access.signed_in(claim("alice", groups=frozenset({"board"})))
    access.sign_ins.begin(alice.id, b"shown", timedelta(hours=1))
    for grantee in (Grantee(GranteeKind.PERSON, alice.id), Grantee(GranteeKind.ACCOUNT, "alice@example.com"), EVERYONE):
        grants.give("plans", grantee, Right.READ)
    people.set_role(alice.id, Role.EDITOR)
    (settings.data_dir / "catalogue.version-0002.sqlite3").write_text("alice@example.com")

    people.erase(alice.id)

    assert [each.name for each in people.all()] == ["Root"]
    assert [each.id for each in people.erased()] == [alice.id]
    assert people.current(alice.id) is None
    assert access.sign_ins.person_id(b"shown") is None
    assert [each.grantee for each in grants.of("plans").grants] == [EVERYONE]
    for change in (people.enable, people.disable, people.erase, lambda id_: people.set_role(id_, Role.ADMIN)):
        with pytest.raises(errors.UnknownPerson):
            change(alice.id)
    with pytest.raises(errors.UnknownPerson):
        grants.set_owner("plans", alice.id)
    kept = b"".join(file.read_bytes() for file in settings.data_dir.rglob("*") if file.is_file()).lower()
    assert b"alice" not in kept  # not even in the audit log, which stores only ids
    assert b"board" not in kept
    again = people.signed_in(claim("alice"))
    assert (again.id != alice.id, again.role) == (True, Role.READER)


def shared_with_alice(access: Access, settings: Settings, *, mail_is_verified: bool = False) -> Principal:
    """An alice@example.com, to which an index is shared."""
    access.people.signed_in(claim("root"))
    with open_catalogue(settings) as catalogue:
        catalogue.indexes.create("0" * 32, "plans", "model", "collection", analysis="a", owner_id=None)
    access.grants.give("plans", Grantee(GranteeKind.ACCOUNT, "alice@example.com"), Right.READ)
    return access.people.signed_in(claim("17", mail="Alice@example.com", mail_is_verified=mail_is_verified))


def test_erasing_someone_takes_the_grants_to_their_address_also_if_it_was_never_verified(
    access: Access, settings: Settings
) -> None:
    access.people.erase(shared_with_alice(access, settings).id)
    assert access.grants.of("plans").grants == ()
    kept = b"".join(file.read_bytes() for file in settings.data_dir.rglob("catalogue*") if file.is_file())
    assert b"alice@example.com" not in kept.lower()


@pytest.mark.parametrize(
    "known", [lambda people: people.signed_in(claim("alice")), lambda people: people.add("alice@example.com")]
)
def test_the_grants_to_an_address_stay_if_it_certainly_belongs_to_someone_else(
    access: Access, settings: Settings, known: Callable[[People], object]
) -> None:
    known(access.people)
    access.people.erase(shared_with_alice(access, settings).id)
    assert [each.grantee.name for each in access.grants.of("plans").grants] == ["alice@example.com"]


def test_of_one_person_at_two_providers_the_grants_to_the_address_stay_when_the_old_entry_is_erased(
    access: Access, settings: Settings
) -> None:
    """As after a change of the provider, when an admin erases the entries from before."""
    before = shared_with_alice(access, settings, mail_is_verified=True)
    new = access.people.signed_in(SignInClaims("https://new.example", "a-1", "Alice", "alice@example.com", True))
    access.grants.give("plans", Grantee(GranteeKind.ACCOUNT, "17"), Right.READ)
    access.people.erase(before.id)
    assert [each.grantee.name for each in access.grants.of("plans").grants] == ["alice@example.com"]
    access.people.erase(new.id)
    assert access.grants.of("plans").grants == ()


# Also in test_commands.py::test_both_are_managed_while_the_app_runs, without a process.
@pytest.mark.soak
def test_another_process_puts_someone_out(people: People, settings: Settings) -> None:
    alice = people.signed_in(claim("alice"))
    command = [sys.executable, "-m", "index_store", "people", "disable", "alice@example.com"]
    subprocess.run(command, check=True, capture_output=True)
    assert people.current(alice.id) is None


@pytest.mark.parametrize("unknown", ["", "nobody", LOCAL.id])
def test_of_someone_unknown_there_is_nothing(people: People, unknown: str) -> None:
    people.signed_in(claim("alice"))
    assert people.current(unknown) is None
    for change in (people.disable, people.enable, lambda id_: people.set_role(id_, Role.ADMIN)):
        with pytest.raises(errors.UnknownPerson):
            change(unknown)


# The last admin


CHANGES: dict[str, Callable[[People, str], object]] = {
    "demoted": lambda people, id_: people.set_role(id_, Role.EDITOR),
    "disabled": lambda people, id_: people.disable(id_),
    "erased": lambda people, id_: people.erase(id_),
    "as claimed again": lambda people, id_: people.set_role(id_, None),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_the_last_admin_stays_one(people: People, change: Callable[[People, str], object]) -> None:
    alice, bob = (people.signed_in(claim(name)) for name in ("alice", "bob"))
    for each in (alice, bob):
        people.set_role(each.id, Role.ADMIN)
    people.set_role(people.add("carol").id, Role.ADMIN)  # she may never sign in
    change(people, bob.id)
    with pytest.raises(errors.LastAdmin) as refused:
        change(people, alice.id)
    assert "Alice" in refused.value.sentence("en")
    assert "Alice" in refused.value.sentence("ja")
    now = people.current(alice.id)
    assert now is not None
    assert now.role is Role.ADMIN


@pytest.mark.parametrize("rounds", [10, pytest.param(30, marks=pytest.mark.soak)])
def test_of_two_admins_who_remove_each_other_at_once_one_is_refused(settings: Settings, rounds: int) -> None:
    """Like two processes: they share only the file."""
    with open_access(settings) as one, open_access(settings) as other, ThreadPoolExecutor(2) as both:
        alice, bob = (one.people.signed_in(claim(name)) for name in ("alice", "bob"))
        together = Barrier(2)

        def change(how: Callable[[People, str], object], people: People, id_: str) -> int:
            together.wait()
            try:
                how(people, id_)
            except errors.LastAdmin:
                return 1
            return 0

        for number in range(rounds):
            for each in (alice, bob):
                one.people.enable(each.id)
                one.people.set_role(each.id, Role.ADMIN)
            hows = [CHANGES["demoted"], CHANGES["disabled" if number % 2 else "demoted"]]
            refused = both.map(change, hows, [one.people, other.people], [bob.id, alice.id])
            assert sum(refused) == 1
            admins = [each for each in one.people.all() if each.role is Role.ADMIN and not each.disabled_at]
            assert len(admins) == 1


def test_a_person_without_the_admin_group_loses_the_role_and_the_log_says_what_to_do(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(settings, admin_groups="boss") as people, caplog.at_level(logging.WARNING):
        people.signed_in(claim("alice", groups=frozenset({"boss"})))
        assert people.signed_in(claim("alice")).role is Role.READER
    assert "python -m index_store people role" in caplog.text


# Last seen


def seen(people: People) -> datetime:
    [person] = people.all()
    assert person.last_seen_at is not None
    return person.last_seen_at


def set_seen(settings: Settings, ago: timedelta) -> None:
    with by_hand(settings) as connection:
        connection.execute(schema.people.update().values(last_seen_at=schema.now() - ago))


def test_when_someone_was_last_seen_is_noted_once_a_minute(people: People, settings: Settings) -> None:
    alice = people.signed_in(claim("alice"))
    set_seen(settings, NOTED_EVERY * 0.5)
    before = seen(people)
    people.current(alice.id)
    people.signed_in(claim("alice"))
    assert seen(people) == before
    set_seen(settings, NOTED_EVERY * 1.5)
    before = seen(people)
    people.current(alice.id)
    assert seen(people) - before >= NOTED_EVERY
    set_seen(settings, NOTED_EVERY * 1.5)
    people.disable(alice.id)
    before = seen(people)
    people.current(alice.id)
    assert seen(people) == before


def test_when_someone_was_last_seen_is_right_again_after_the_clock_was_set_back(
    people: People, settings: Settings
) -> None:
    alice = people.signed_in(claim("alice"))
    set_seen(settings, -NOTED_EVERY * 60)
    people.current(alice.id)
    assert seen(people) <= datetime.now(UTC)


def test_what_goes_on_without_someone_does_not_count_as_seeing_them(access: Access, settings: Settings) -> None:
    alice = access.people.signed_in(claim("alice"))
    set_seen(settings, NOTED_EVERY * 1.5)
    before = seen(access.people)
    assert access.principal(alice.id) == alice
    assert seen(access.people) == before
    access.people.disable(alice.id)
    with pytest.raises(errors.AccessWithdrawn):
        access.principal(alice.id)
    with pytest.raises(errors.AccessWithdrawn):
        access.principal("nobody")
    assert access.principal(LOCAL.id) is LOCAL


@pytest.mark.both_databases
@pytest.mark.timeout(20, func_only=True)  # seconds, without the start of a server; waiting for the other would take 30
def test_who_is_known_comes_in_while_someone_else_writes(people: People, settings: Settings) -> None:
    alice = people.signed_in(claim("alice"))
    set_seen(settings, NOTED_EVERY * 2)
    before = seen(people)
    with by_hand(settings) as connection:
        backend_of(connection).begin_exclusive(connection)
        connection.execute(schema.people.update().values(last_seen_at=schema.people.c.last_seen_at))
        assert people.current(alice.id) == alice
        assert people.signed_in(claim("alice")) == alice
    assert seen(people) == before
    people.current(alice.id)
    assert seen(people) > before

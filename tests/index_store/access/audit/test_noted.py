"""What the facades of the store write to the audit log, and in whose name."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from index_store.access.audit.audit import EntryFilter
from index_store.access.grants import EVERYONE
from index_store.access.limits import GroupLimits
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import LOCAL, Role
from index_store.access.rights import Right
from index_store.base.errors import AccessWithdrawn, AdminNeeded, RightMissing
from index_store.base.settings.settings import Settings
from index_store.catalogue.schema import now, people
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.store.user_store import UserStore
from tests.helpers.back_doors import catalogue_of
from tests.index_store.access.conftest import claim

Write = Callable[..., Path]
As = Callable[[str, Role], UserStore]


@pytest.fixture
def store(serviced: Settings) -> Iterator[IndexStore]:
    with IndexStore(serviced) as store:
        yield store


@pytest.fixture
def as_(store: IndexStore) -> As:
    """`as_("alice", Role.EDITOR)`: her facade of the store, with this role."""

    def as_(name: str, role: Role) -> UserStore:
        id_ = store.access.people.signed_in(claim(name)).id
        store.access.people.set_role(id_, role)
        return store.as_user(lambda: store.access.principal(id_))

    return as_


def noted(store: IndexStore) -> list[tuple[str, str, str | None]]:
    entries = store.as_user(lambda: LOCAL).access.audit.read(latest=None).entries
    return [(each.name, each.action, each.index) for each in reversed(entries)]


def test_each_change_of_an_index_and_its_documents_is_noted_with_who_and_which(
    store: IndexStore, as_: As, write: Write
) -> None:
    alice = as_("alice", Role.EDITOR)
    files = [write("a.md"), write("b.md")]
    alice.ingest("規程", [FileSource(file) for file in files]).wait()
    alice.add("規程", write("c.md"), "c.md")
    alice.remove("規程", "c.md")
    alice.set_glossary("規程", "日当")
    alice.reindex("規程").wait()
    alice.access.grants.give("規程", EVERYONE, Right.READ)
    alice.access.grants.take("規程", EVERYONE)
    alice.rename_index("規程", "handbook")
    alice.create_index("empty")
    alice.delete_index("handbook")
    done = noted(store)
    assert {name for name, _, _ in done} == {"Alice"}
    assert sorted(done[:2]) == [("Alice", "added", "規程"), ("Alice", "index_created", "規程")]
    assert [(action, index) for _, action, index in done[2:]] == [
        ("added", "規程"), ("removed", "規程"), ("glossary_set", "規程"), ("index_rebuilt", "規程"),
        ("granted", "規程"), ("grant_taken", "規程"), ("index_renamed", "規程"), ("index_created", "empty"),
        ("index_deleted", "handbook"),
    ]  # fmt: skip
    [removed] = store.access.audit.read(EntryFilter(action="removed")).entries
    assert removed.facts == {"sources": ["c.md"]}


def test_what_was_refused_is_not_noted_as_done(store: IndexStore, as_: As, write: Write) -> None:
    alice, bob = as_("alice", Role.EDITOR), as_("bob", Role.READER)
    alice.add("a", write("a.md"), "a.md")
    alice.access.grants.give("a", EVERYONE, Right.READ)
    before = noted(store)
    with pytest.raises(RightMissing):
        bob.remove("a", "a.md")
    with pytest.raises(RightMissing):
        bob.ingest("a", [FileSource(write("b.md"))])
    with pytest.raises(AdminNeeded):
        alice.access.people.add("carol@example.com")
    assert noted(store) == before


def test_what_an_admin_does_with_people_and_limits_is_noted(store: IndexStore, as_: As) -> None:
    root = as_("root", Role.ADMIN)
    carol = root.access.people.add("carol@example.com")
    root.access.people.set_role(carol.id, Role.EDITOR)
    root.access.people.disable(carol.id)
    root.access.people.enable(carol.id)
    root.access.limits.set("sales", GroupLimits(files=10))
    assert noted(store) == [("Root", action, None) for action in (
        "person_added", "role_set", "disabled", "enabled", "limits_set",
    )]  # fmt: skip
    entry = store.access.audit.read(latest=1).entries[0]
    assert entry.facts == {"group": "sales", "files": 10}


def test_only_admins_read_it_and_see_limits(store: IndexStore, as_: As) -> None:
    store.access.limits.set("sales", GroupLimits(files=10))
    for role in (Role.READER, Role.EDITOR):
        access = as_("alice", role).access
        audit = access.audit
        for ask in (audit.read, lambda: audit.lost, lambda: audit.is_kept, access.limits.all):  # noqa: B023
            with pytest.raises(AdminNeeded):
                ask()
        with pytest.raises(AdminNeeded):
            access.limits.set("sales", GroupLimits())
    admin = as_("root", Role.ADMIN).access
    assert admin.audit.read().entries == []
    assert list(admin.limits.all()) == ["sales"]


def test_where_nobody_signs_in_it_was_the_local_person(store: IndexStore) -> None:
    store.create_index("a")
    [entry] = store.as_user(lambda: LOCAL).access.audit.read().entries
    assert (entry.person, entry.action, entry.index) == ("local", "index_created", "a")


def test_who_signs_in_and_out_and_who_is_not_let_in_is_noted(store: IndexStore) -> None:
    access = store.access
    alice = access.signed_in(claim("alice"))
    access.sign_ins.begin(alice.id, b"shown", timedelta(hours=1))
    access.signed_out(b"shown")
    access.signed_out(b"shown")
    access.people.disable(alice.id)
    with pytest.raises(AccessWithdrawn):
        access.signed_in(claim("alice"))
    assert noted(store) == [("Alice", action, None) for action in ("signed_in", "signed_out", "sign_in_refused")]
    assert {each.person for each in access.audit.read().entries} == {alice.id}


def test_of_many_tabs_behind_a_proxy_one_visit_is_noted(store: IndexStore) -> None:
    for _ in range(3):
        store.access.signed_in(claim("alice"), visit=timedelta(hours=8))
    assert [action for _, action, _ in noted(store)] == ["signed_in"]


def test_a_sign_in_is_noted_also_if_the_clock_of_another_app_is_ahead(store: IndexStore) -> None:
    store.access.signed_in(claim("alice"))
    with catalogue_of(store).database.begin() as connection:
        connection.execute(people.update().values(last_seen_at=now() + timedelta(minutes=4)))
    store.access.signed_in(claim("alice"))
    assert [action for _, action, _ in noted(store)] == ["signed_in", "signed_in"]


def test_who_has_no_name_and_no_address_is_found_as_the_log_shows_them(store: IndexStore) -> None:
    """A proxy with basic authentication says a user name and nothing else."""
    for user in ("tanaka", "suzuki"):
        store.access.signed_in(SignInClaims("Remote-User", user))
    read = store.as_user(lambda: LOCAL).access.audit.read
    assert [each.name for each in read(EntryFilter(person="Tanaka")).entries] == ["tanaka"]

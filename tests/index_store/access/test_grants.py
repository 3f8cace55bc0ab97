from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, event

from index_store.access.access import Access
from index_store.access.grants import EVERYONE, Grantee, Grants
from index_store.access.principal import LOCAL, Principal, Role
from index_store.access.rights import GranteeKind, Right
from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.store.index_store import IndexStore
from tests.index_store.access.conftest import claim

READ, WRITE, MANAGE = Right


@pytest.fixture
def kept(serviced: Settings) -> Iterator[IndexStore]:
    """A store with the index “規程”, and an index without owner and grants."""
    with IndexStore(serviced) as store:
        store.create_index("規程")
        store.create_index("other")
        yield store


@pytest.fixture
def grants(kept: IndexStore) -> Grants:
    return kept.access.grants


def as_role(access: Access, role: Role, subject: str = "alice") -> Principal:
    """A person with this role, in the group “hr”."""
    known = access.people.signed_in(claim(subject, groups=frozenset({"hr", "tokyo"})))
    access.people.set_role(known.id, role)
    current = access.people.current(known.id)
    assert current is not None
    return current


def right_of(access: Access, principal: Principal, index: str) -> Right | None:
    found = access.rights.named(principal, index)
    return found and found.right


def readable(access: Access, principal: Principal) -> list[str]:
    return [each.index.name for each in access.rights.all(principal)]


def of(person: Principal) -> Grantee:
    return Grantee(GranteeKind.PERSON, person.id)


HR = Grantee(GranteeKind.GROUP, "hr")

# For each role: the granted right (or "own" for the owner) -> the right that the person has.
MATRIX = {
    Role.ADMIN: {None: MANAGE, READ: MANAGE, WRITE: MANAGE, MANAGE: MANAGE, "own": MANAGE},
    Role.EDITOR: {None: None, READ: READ, WRITE: WRITE, MANAGE: MANAGE, "own": MANAGE},
    Role.READER: {None: None, READ: READ, WRITE: READ, MANAGE: READ, "own": READ},
}


@pytest.mark.parametrize("role", MATRIX)
def test_the_role_limits_the_granted_right(kept: IndexStore, role: Role) -> None:
    access, grants = kept.access, kept.access.grants
    alice, bob = as_role(access, role), as_role(access, Role.EDITOR, "bob")
    sources = {"person": of(alice), "group": HR, "everyone": EVERYONE}
    expected: dict[str, Right | None] = {}
    for right, comes_to in MATRIX[role].items():
        for source in ["owner"] if right == "own" else ["none"] if right is None else sources:
            index = f"{source} {right}"
            expected[index] = comes_to
            kept.create_index(index)
            # Rights of others must not count for her.
            grants.set_owner(index, alice.id if source == "owner" else bob.id)
            grants.give(index, of(bob), MANAGE)
            grants.give(index, Grantee(GranteeKind.GROUP, "HR"), MANAGE)
            grants.give(index, Grantee(GranteeKind.GROUP, alice.id), MANAGE)
            if source in sources:
                grants.give(index, sources[source], Right(right))
    assert len(expected) == 11
    assert {index: right_of(kept.access, alice, index) for index in expected} == expected
    allowed = {index for index, right in expected.items() if right}
    assert set(readable(kept.access, alice)) - {"規程", "other"} == allowed


@pytest.mark.both_databases
def test_of_several_grants_the_most_counts(kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.EDITOR)
    grants = kept.access.grants
    for grantee, right in ((EVERYONE, READ), (HR, WRITE), (of(alice), READ)):
        grants.give("規程", grantee, right)
    assert right_of(kept.access, alice, "規程") is WRITE
    grants.take("規程", HR)
    assert right_of(kept.access, alice, "規程") is READ


@pytest.mark.both_databases
def test_a_grant_takes_the_place_of_the_one_before(kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.EDITOR)
    for right in (MANAGE, READ):
        kept.access.grants.give("規程", of(alice), right)
    assert right_of(kept.access, alice, "規程") is READ


def test_what_was_granted_to_someone_is_over_with_their_group(kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.READER)
    kept.access.grants.give("規程", HR, READ)
    moved = kept.access.people.signed_in(claim("alice", groups=frozenset({"sales"})))
    assert right_of(kept.access, alice, "規程") is READ
    assert right_of(kept.access, moved, "規程") is None


@pytest.mark.parametrize(
    ("granted_to", "told", "comes_to"),
    [
        ("Carol@Example.com", {}, WRITE),
        (" carol ", {}, WRITE),
        ("carol@example.com", {"mail_is_verified": False}, None),
        ("Carol", {}, None),  # a display name proves nothing
        ("carol@example.com", {"mail": "carol@example.org"}, None),
    ],
)
def test_a_grant_to_an_account_counts_only_for_a_verified_address_or_subject(
    kept: IndexStore, granted_to: str, told: dict[str, object], comes_to: Right | None
) -> None:
    account = Grantee(GranteeKind.ACCOUNT, granted_to)
    kept.access.grants.give("規程", account, WRITE)
    carol = kept.access.people.signed_in(claim("carol", **told))
    kept.access.people.set_role(carol.id, Role.EDITOR)
    assert right_of(kept.access, kept.access.principal(carol.id), "規程") is comes_to
    kept.access.grants.take("規程", account)
    assert readable(kept.access, kept.access.principal(carol.id)) == []


def test_who_has_which_right_is_told_by_name_and_address(kept: IndexStore) -> None:
    alice, bob = as_role(kept.access, Role.EDITOR), as_role(kept.access, Role.READER, "bob")
    grants = kept.access.grants
    grants.set_owner("規程", alice.id)
    account = Grantee(GranteeKind.ACCOUNT, "carol@example.com")
    for grantee in (of(bob), HR, account, EVERYONE):
        grants.give("規程", grantee, READ)
    access = grants.of("規程")
    assert access.names == {alice.id: "Alice · alice@example.com", bob.id: "Bob · bob@example.com"}
    assert {grant.grantee for grant in access.grants} == {of(bob), HR, account, EVERYONE}
    assert [each.names for each in grants.all()] == [{}, access.names]


def test_what_was_given_to_someone_who_was_added_is_theirs_when_their_address_is_verified_after_the_first_sign_in(
    kept: IndexStore,
) -> None:
    added = kept.access.people.add("carol@example.com", Role.EDITOR)
    kept.access.grants.give("規程", Grantee(GranteeKind.PERSON, added.id), WRITE)
    kept.access.grants.set_owner("other", added.id)
    carol = kept.access.people.signed_in(claim("17", mail="carol@example.com", mail_is_verified=False))
    assert readable(kept.access, kept.access.principal(carol.id)) == []
    kept.access.people.signed_in(claim("17", mail="carol@example.com"))
    assert readable(kept.access, kept.access.principal(carol.id)) == ["other", "規程"]
    assert kept.access.grants.of("other").owner == carol.id


@pytest.mark.parametrize("kind", [GranteeKind.ACCOUNT, GranteeKind.GROUP])
def test_a_grant_to_a_blank_name_is_refused(kept: IndexStore, kind: GranteeKind) -> None:
    with pytest.raises(errors.NobodyNamed):
        kept.access.grants.give("規程", Grantee(kind, " "), READ)
    assert kept.access.grants.of("規程").grants == ()


def test_an_index_of_before_sign_in_is_the_admins_alone_until_they_grant_it(kept: IndexStore) -> None:
    editor, admin = as_role(kept.access, Role.EDITOR), as_role(kept.access, Role.ADMIN, "root")
    grants = kept.access.grants
    assert grants.of("規程").owner is None
    assert (readable(kept.access, editor), readable(kept.access, admin)) == ([], ["other", "規程"])
    assert readable(kept.access, LOCAL) == readable(kept.access, admin)
    grants.give("規程", EVERYONE, READ)
    assert readable(kept.access, editor) == ["規程"]
    grants.set_owner("規程", editor.id)
    assert right_of(kept.access, editor, "規程") is MANAGE
    grants.set_owner("規程", None)
    assert right_of(kept.access, editor, "規程") is READ


def test_a_group_of_bytes_that_are_no_text_is_one_like_any(kept: IndexStore) -> None:
    odd = Grantee(GranteeKind.GROUP, "caf\udce9")
    kept.access.grants.give("規程", odd, READ)
    someone = kept.access.people.signed_in(claim("alice", groups=frozenset({odd.name})))
    assert readable(kept.access, someone) == ["規程"]
    kept.access.grants.take("規程", odd)
    assert readable(kept.access, someone) == []


def test_grants_go_along_when_an_index_is_renamed(kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.READER)
    kept.access.grants.set_owner("規程", alice.id)
    kept.access.grants.give("規程", HR, READ)
    before = kept.access.grants.of("規程")
    kept.rename_index("規程", "ガイド")
    after = kept.access.grants.of("ガイド")
    assert (after.owner, after.grants) == (before.owner, before.grants)
    assert right_of(kept.access, alice, "規程") is None
    assert readable(kept.access, alice) == ["ガイド"]
    assert right_of(kept.access, alice, "カ\u3099イト\u3099") is READ  # the same name in another Unicode form


def test_an_index_made_anew_under_a_name_has_none_of_the_grants_of_the_one_before(kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.READER)
    kept.access.grants.set_owner("規程", alice.id)
    kept.access.grants.give("規程", of(alice), READ)
    kept.delete_index("規程")
    kept.create_index("規程")
    assert right_of(kept.access, alice, "規程") is None
    assert kept.access.grants.of("規程").grants == ()


def test_what_may_be_read_is_one_query_however_many_indexes_there_are(kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.READER)
    for number in range(20):
        kept.create_index(f"index {number:02}")
        kept.access.grants.give(f"index {number:02}", [HR, EVERYONE, of(alice)][number % 3], READ)
    queries: list[str] = []
    listen = (Engine, "before_cursor_execute", lambda *seen: queries.append(seen[2]))
    event.listen(*listen)
    try:
        assert readable(kept.access, alice) == [f"index {number:02}" for number in range(20)]
    finally:
        event.remove(*listen)
    assert len(queries) == 1


def test_an_index_that_there_is_not_is_told_like_one_that_may_not_be_read(grants: Grants, kept: IndexStore) -> None:
    alice = as_role(kept.access, Role.EDITOR)
    assert right_of(kept.access, alice, "none") is right_of(kept.access, alice, "規程") is None


def test_nothing_is_granted_of_an_unknown_index_or_to_an_unknown_person(grants: Grants) -> None:
    for change in (
        lambda: grants.give("none", EVERYONE, READ),
        lambda: grants.take("none", EVERYONE),
        lambda: grants.set_owner("none", None),
        lambda: grants.of("none"),
    ):
        with pytest.raises(errors.UnknownIndex, match=r"other, 規程"):
            change()
    for stranger in (
        lambda: grants.give("規程", Grantee(GranteeKind.PERSON, "nobody"), READ),
        lambda: grants.set_owner("規程", "nobody"),
        lambda: grants.set_owner("規程", LOCAL.id),
    ):
        with pytest.raises(errors.UnknownPerson):
            stranger()
    assert grants.of("規程").grants == ()

"""`python -m index_store people | grants | audit`. Their user has the data folder, so they may do everything."""

import argparse
from collections.abc import Callable
from functools import partial

from index_store.access.access import UserAccess, open_access
from index_store.access.audit import commands as audit
from index_store.access.gate import as_local
from index_store.access.grants import EVERYONE, Grantee
from index_store.access.people.person import ERASED, Person
from index_store.access.people.typed_names import typed_address
from index_store.access.principal import Role
from index_store.access.rights import GranteeKind, Right
from index_store.access.user_people import UserPeople
from index_store.base.command_line.commands import Command, Commands, Output, names
from index_store.base.settings.settings import Settings

CLAIMED = "claimed"
"""in place of a role: use the role from the sign-in and the settings"""

RIGHTS = {right.name.lower(): right for right in Right}


def add_to(commands: Commands) -> None:
    _add_people(commands.group("people", "people and their roles"))
    _add_grants(commands.group("grants", "owners and rights of indexes"))
    audit.add_arguments(
        commands.add("audit", _with(_audit), "show the audit log: who did what; also while the app runs")
    )


def _add_people(commands: Commands) -> None:
    commands.add("list", _with(_list_people), "list the people and their roles")
    added = commands.add("add", _with(_add_person), "add a person before they sign in for the first time")
    added.add_argument("name", metavar="EMAIL_OR_SUBJECT")
    added.add_argument("--role", choices=names(Role), help="role set by hand (default: from the sign-in)")
    changed = commands.add("role", _with(_set_role), "set a role by hand")
    _add_person_argument(changed)
    changed.add_argument(
        "role", choices=[*names(Role), CLAIMED], help=f"{CLAIMED}: use the role from the sign-in again"
    )
    for change, what in (
        (UserPeople.disable, "withdraw a person's access; they are signed out at once"),
        (UserPeople.erase, "erase a person's identity; the app deletes their data at its start or within a day"),
        (UserPeople.enable, "restore a person's access; they sign in again"),
    ):
        _add_person_argument(commands.add(change.__name__, _with(partial(_changed, change)), what))


def _add_grants(commands: Commands) -> None:
    commands.add("list", _with(_list_grants), "list the owner and the rights of each index").add_argument(
        "--index", metavar="NAME"
    )
    given = _add_grantees(commands.add("give", _with(_give), "grant the right to read, write or manage an index"))
    given.add_argument("right", choices=list(RIGHTS))
    _add_grantees(commands.add("take", _with(_take), "withdraw a right"))
    owned = commands.add("own", _with(_own), "set or remove the owner of an index")
    owned.add_argument("--index", required=True, metavar="NAME")
    owned.add_argument("--person", metavar="WHO", help="id, email address or subject (default: no owner)")


def _with(run: Callable[[UserAccess, argparse.Namespace, Output], bool]) -> Command:
    def opened(options: argparse.Namespace, out: Output) -> bool:
        with open_access(Settings()) as access:
            return run(access.as_user(as_local), options, out)

    return opened


def _audit(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    return audit.list_entries(access.audit, options, out)


def _add_person_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument("person", metavar="WHO", help="id, email address or subject")


def _add_grantees(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    command.add_argument("--index", required=True, metavar="NAME")
    whom = command.add_mutually_exclusive_group(required=True)
    whom.add_argument("--person", metavar="WHO", help="id, email address or subject")
    whom.add_argument(
        "--account", metavar="NAME", help="email address or subject of a person who may not have signed in yet"
    )
    whom.add_argument("--group", metavar="NAME", help="name of the group at the sign-in")
    whom.add_argument("--everyone", action="store_true", help="everyone who signs in")
    return command


# People


def _list_people(access: UserAccess, _: argparse.Namespace, out: Output) -> bool:
    people = access.people.all()
    for person in people:
        _tell(person, out)
    if not people:
        out.note(
            "Nobody has signed in yet. You can add a person before that with `people add`.",
            "サインインした人はまだいません。`people add` で先に追加できます。",
        )
    return True


def _add_person(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    _tell(access.people.add(options.name, Role(options.role) if options.role else None), out)
    return True


def _set_role(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    role = None if options.role == CLAIMED else Role(options.role)
    _tell(access.people.set_role(_found(access, options), role), out)
    return True


def _changed(
    change: Callable[[UserPeople, str], Person], access: UserAccess, options: argparse.Namespace, out: Output
) -> bool:
    _tell(change(access.people, _found(access, options)), out)
    return True


def _found(access: UserAccess, options: argparse.Namespace) -> str:
    return access.people.find(options.person).id


def _tell(person: Person, out: Output) -> None:
    role = f"{person.role} (by hand)" if person.role_is_given else str(person.role)
    seen = person.last_seen_at and f"seen {person.last_seen_at:%Y-%m-%d %H:%M} UTC"
    if person.issuer == ERASED:
        out.line(person.model_dump(mode="json"), f"{person.id}  erased")
        return
    notes = ["disabled" if person.disabled_at else "", seen or "" if person.issuer else "has not signed in"]
    text = "  ".join(filter(None, [person.id, role, person.name, person.mail or person.subject, *notes]))
    out.line(person.model_dump(mode="json"), text)


# Grants


def _list_grants(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    found = access.grants.all() if options.index is None else [access.grants.of(options.index)]
    if not found:
        out.note("There is no index yet.", "インデックスはまだありません。")
    for each in found:
        _tell_owner(access, each.index, each.owner, out)
        for grantee, right in each.grants:
            _tell_right(access, each.index, grantee, right.name.lower(), out)
    return True


def _give(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    grantee = _grantee(access, options)
    access.grants.give(options.index, grantee, RIGHTS[options.right])
    _tell_right(access, options.index, grantee, options.right, out)
    return True


def _take(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    grantee = _grantee(access, options)
    access.grants.take(options.index, grantee)
    _tell_right(access, options.index, grantee, "none", out)
    return True


def _own(access: UserAccess, options: argparse.Namespace, out: Output) -> bool:
    owner = None if options.person is None else _found(access, options)
    access.grants.set_owner(options.index, owner)
    _tell_owner(access, options.index, owner, out)
    return True


def _grantee(access: UserAccess, options: argparse.Namespace) -> Grantee:
    if options.everyone:
        return EVERYONE
    if options.account is not None:
        return Grantee(GranteeKind.ACCOUNT, typed_address(options.account))
    if options.group is not None:
        return Grantee(GranteeKind.GROUP, options.group)
    return Grantee(GranteeKind.PERSON, _found(access, options))


def _tell_owner(access: UserAccess, index: str, owner: str | None, out: Output) -> None:
    if owner is None:
        out.line({"index": index, "right": "own", "kind": None, "name": None}, f"{index}  own  nobody")
    else:
        _tell_right(access, index, Grantee(GranteeKind.PERSON, owner), "own", out)


def _tell_right(access: UserAccess, index: str, grantee: Grantee, right: str, out: Output) -> None:
    shown = grantee.name
    if grantee.kind is GranteeKind.PERSON:
        person = access.people.find(grantee.name)
        shown = "  ".join(filter(None, [person.id, person.name, person.mail or person.subject]))
    fields = {"index": index, "right": right, "kind": grantee.kind, "name": grantee.name}
    out.line(fields, "  ".join(filter(None, [index, right, grantee.kind, shown])))

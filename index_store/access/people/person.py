"""A person as the database knows them, and their role.

A role is computed each time it is read: the role given by hand, otherwise the one that the settings give for the last
claims. So a change of the settings takes effect at the next start, without a new sign-in.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, Row, select

from index_store.access.people.typed_names import account_name, folded_address, typed_address
from index_store.access.principal import Principal, Role
from index_store.base.settings.settings import Settings, comma_separated
from index_store.catalogue.schema import people

NOT_YET = ""
"""issuer of people who have not signed in yet"""

ERASED = "erased"
"""issuer of erased people: no claim matches them"""


class Person(BaseModel, frozen=True):
    id: str
    issuer: str
    """empty: has not signed in yet"""
    subject: str
    """before the first sign-in: the subject or the mail address with which they will sign in"""
    name: str
    mail: str
    mail_is_verified: bool
    groups: tuple[str, ...]
    role: Role
    role_is_given: bool
    """whether the role was given by hand and not by claims"""
    disabled_at: datetime | None
    last_seen_at: datetime | None
    """accurate to NOTED_EVERY"""
    created_at: datetime

    @property
    def known_as(self) -> str:
        return self.name or self.mail or self.subject

    @property
    def principal(self) -> Principal:
        accounts = accounts_of(self.subject, self.mail, self.mail_is_verified)
        return Principal(self.id, self.name, self.mail, self.role, frozenset(self.groups), accounts)


def names_of(everybody: Sequence[Person], taken: Iterable[str] = ()) -> dict[str, str]:
    """A name for each id that nobody else has: people choose their own names, and two may choose the same. One person
    is two with two providers, with the same address too.

    `taken`: names that mean somebody else.
    """
    named, others = {each.id: each.known_as for each in everybody}, tuple(taken)
    claims = [(each.id, each.known_as, (each.mail or each.subject, each.issuer, each.subject)) for each in everybody]
    for at in range(3):
        counts = Counter((*others, *named.values()))
        for id_, known_as, told_apart_by in claims:
            more = told_apart_by[at]
            if counts[named[id_]] > 1 and more not in ("", known_as):
                named[id_] += f" · {more}"
    return named


class RoleRules:
    """What the settings say about roles."""

    def __init__(self, settings: Settings) -> None:
        self._admins = comma_separated(settings.admins)
        self._admin_mails = frozenset(folded_address(typed_address(each)) for each in self._admins)
        self._admin_groups = comma_separated(settings.admin_groups)
        self._editor_groups = comma_separated(settings.editor_groups)
        self._default_role = Role(settings.default_role)

    def person(self, row: Row[Any]) -> Person:
        return Person(
            id=row.id, issuer=row.issuer, subject=row.subject, name=row.name, mail=row.mail,
            mail_is_verified=row.mail_is_verified, groups=tuple(row.groups), role=self._role(row),
            role_is_given=row.role is not None, disabled_at=_aware(row.disabled_at),
            last_seen_at=_aware(row.last_seen_at), created_at=row.created_at.replace(tzinfo=UTC),
        )  # fmt: skip

    def has_admin(self, connection: Connection) -> bool:
        """Whether an admin can act. People who have not signed in yet don't count: they may never do so."""
        here = select(people).where(people.c.disabled_at.is_(None), people.c.issuer != NOT_YET)
        return any(self._role(row) is Role.ADMIN for row in connection.execute(here))

    def _role(self, row: Row[Any]) -> Role:
        if row.role:
            return Role(row.role)
        if row.subject in self._admins or (row.mail_is_verified and folded_address(row.mail) in self._admin_mails):
            return Role.ADMIN
        if self._admin_groups & set(row.groups):
            return Role.ADMIN
        return Role.EDITOR if self._editor_groups & set(row.groups) else self._default_role


def accounts_of(subject: str, mail: str, mail_is_verified: bool) -> frozenset[str]:
    return frozenset({subject, account_name(subject)} | ({account_name(mail)} if mail and mail_is_verified else set()))


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None

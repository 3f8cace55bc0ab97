"""People, sign-ins, grants and limits, in the database of the catalogue; and the audit log."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine

from index_store.access.audit.audit import Audit
from index_store.access.audit.entry import Action
from index_store.access.gate import CurrentPrincipal, Gate, as_local
from index_store.access.grants import Grants
from index_store.access.limits import Limits
from index_store.access.people.people import People
from index_store.access.people.recognition import SignInClaims
from index_store.access.people.sign_ins import SignIns
from index_store.access.principal import LOCAL, Principal, Role
from index_store.access.rights import Rights
from index_store.access.user_people import UserAudit, UserLimits, UserPeople
from index_store.base.errors import AccessWithdrawn
from index_store.base.settings.settings import Settings
from index_store.library.opening import open_catalogue


class Access:
    """The access of the process, in the name of the local person."""

    def __init__(self, database: Engine, settings: Settings) -> None:
        self._database = database
        self.people = People(database, settings)
        self.sign_ins = SignIns(database)
        self.limits = Limits(database)
        self.audit = Audit(settings)
        self.rights = Rights(database)
        self.grants = Grants(database, self.gate(as_local), self.audit)

    def close(self) -> None:
        self.people.close()

    def signed_in(self, claim: SignInClaims, *, visit: timedelta = timedelta(0)) -> Principal:
        """As `People.signed_in`, and recorded in the audit log: each time, or only if not seen for a `visit`."""
        known = self.people.id_of(claim.issuer, claim.subject)
        seen_at = self.people.find(known).last_seen_at if known else None
        try:
            principal = self.people.signed_in(claim)
        except AccessWithdrawn:
            refused = known or self.people.id_of(claim.issuer, claim.subject) or ""
            self.audit.note(Action.SIGN_IN_REFUSED, Principal(refused, "", "", Role.READER))
            raise
        # abs: an app whose clock is ahead may have seen them last.
        if seen_at is None or abs(datetime.now(UTC) - seen_at) >= visit:
            self.audit.note(Action.SIGNED_IN, principal, role=principal.role)
        return principal

    def signed_out(self, shown: bytes) -> None:
        """`shown`: the secret that the browser shows. Raises ChangeFailed."""
        whose = self.sign_ins.person_id(shown)
        self.sign_ins.end(shown)
        if whose and (principal := self.people.known(whose)):
            self.audit.note(Action.SIGNED_OUT, principal)

    def principal(self, person_id: str) -> Principal:
        """The principal as it is now, for work that goes on without the person. `person_id`: from a principal, never
        from a browser.

        Raises AccessWithdrawn.
        """
        principal = LOCAL if person_id == LOCAL.id else self.people.known(person_id)
        if principal is None:
            raise AccessWithdrawn()
        return principal

    def as_user(self, who: CurrentPrincipal) -> "UserAccess":
        return UserAccess(self, self._database, self.gate(who))

    def gate(self, who: CurrentPrincipal) -> Gate:
        return Gate(self.rights, who)


class UserAccess:
    """The access of one person."""

    def __init__(self, access: Access, database: Engine, gate: Gate) -> None:
        self.people = UserPeople(access.people, gate, access.audit)
        self.grants = Grants(database, gate, access.audit)
        self.limits = UserLimits(access.limits, gate, access.audit)
        self.audit = UserAudit(access.audit, gate, access.people)


@contextmanager
def open_access(settings: Settings) -> Iterator[Access]:
    """Also works while the app runs: a person disabled here loses access with their next action there.

    Raises DataFolderUnusable, DataFolderDamaged, DataFolderNewer; StoreInUse if an app of another version runs.
    """
    with open_catalogue(settings) as catalogue, closing(Access(catalogue.database, settings)) as access:
        yield access

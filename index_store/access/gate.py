"""The gate: checks who asks, and whether they have the right.

Every call checks again: an open page, a callback or a job may last longer than the right that it began with.

If people may not read an index, they get the same error as if it did not exist. If they may read it but not do more,
they get RightMissing.
"""

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from index_store.access import rights
from index_store.access.principal import LOCAL, Principal, Role
from index_store.access.rights import AllowedIndex, Right, Rights
from index_store.base import errors
from index_store.catalogue.records import IndexRecord

CurrentPrincipal = Callable[[], Principal]
"""returns the principal as it is now; raises AccessWithdrawn"""


def as_local() -> Principal:
    return LOCAL


class Gate:
    """Every method raises AccessWithdrawn. Thread-safe."""

    def __init__(self, rights: Rights, who: CurrentPrincipal) -> None:
        self._rights = rights
        self._who = who

    def who(self) -> Principal:
        return self._who()

    def require_admin(self) -> Principal:
        """Raises AdminNeeded."""
        principal = self._who()
        if principal.role is not Role.ADMIN:
            raise errors.AdminNeeded()
        return principal

    def require_editor(self) -> Principal:
        """The principal, if they may create indexes. Raises EditorNeeded."""
        principal = self._who()
        if principal.role is Role.READER:
            raise errors.EditorNeeded()
        return principal

    @property
    def may_create_indexes(self) -> bool:
        return self._who().role is not Role.READER

    def index(self, name: str, right: Right) -> IndexRecord:
        """Raises UnknownIndex, RightMissing; EmptyIndex if there is no index to choose from."""
        return _reaching(self.allowed(name), right)

    def allowed(self, name: str) -> AllowedIndex:
        """The index with the principal's right. Raises UnknownIndex; EmptyIndex if there is no index to choose from."""
        principal = self._who()
        allowed = self._rights.named(principal, name)
        if allowed is None:
            raise unknown(name, [each.index.name for each in self._rights.all(principal)])
        return allowed

    def index_with_id(self, index_id: str, right: Right) -> IndexRecord | None:
        """None if there is no such index that the principal may read. Raises RightMissing."""
        return _reaching_any(self._rights.with_id(self._who(), index_id), right)

    def index_to_fill(self, name: str) -> IndexRecord | None:
        """The index to which documents will be added; None if the principal may read none of this name and may create
        one.

        Raises RightMissing; UnknownIndex or EmptyIndex if the principal may not create indexes.
        """
        principal = self._who()
        if principal.role is Role.READER:
            return self.index(name, Right.WRITE)
        return _reaching_any(self._rights.named(principal, name), Right.WRITE)

    def index_of_document(self, document_id: str, right: Right) -> IndexRecord | None:
        """None if there is no such document that the principal may read. Raises RightMissing."""
        return _reaching_any(self._rights.of_document(self._who(), document_id), right)

    def index_of_section(self, section_id: str, right: Right) -> IndexRecord | None:
        """None if there is no such section that the principal may read. Raises RightMissing."""
        return _reaching_any(self._rights.of_section(self._who(), section_id), right)

    def sees_jobs(self, begun: Sequence[tuple[str, str | None]]) -> list[bool]:
        """For the person and index of each job, with one query: whether the principal began it or manages its index."""
        principal = self._who()
        if principal.role is Role.ADMIN or all(person == principal.id for person, _ in begun):
            return [True] * len(begun)
        managed = {each.index.id for each in self._rights.all(principal) if each.right is Right.MANAGE}
        return [person == principal.id or index in managed for person, index in begun]

    def unknown(self, name: str) -> errors.PlainError:
        """The error that `index` raises for an unknown name, here for an index that is about to be deleted."""
        return unknown(name, [each.index.name for each in self._rights.all(self._who()) if each.index.name != name])

    def indexes(self, right: Right) -> list[IndexRecord]:
        """Ordered by name."""
        return [each.index for each in self._rights.all(self._who()) if each.right >= right]


def managed(connection: Connection, principal: Principal, name: str) -> IndexRecord:
    """For a transaction that changes rights. Raises UnknownIndex, EmptyIndex, RightMissing."""
    allowed = rights.named(connection, principal, name)
    if allowed is None:
        raise unknown(name, rights.readable(connection, principal))
    return _reaching(allowed, Right.MANAGE)


def unknown(name: str, known: list[str]) -> errors.PlainError:
    """`known`: names of the indexes that the principal may read."""
    return errors.UnknownIndex(index=name, known=", ".join(known)) if known else errors.EmptyIndex(index=name)


def _reaching_any(allowed: AllowedIndex | None, right: Right) -> IndexRecord | None:
    return _reaching(allowed, right) if allowed else None


def _reaching(allowed: AllowedIndex, right: Right) -> IndexRecord:
    """Raises RightMissing."""
    if allowed.right < right:
        raise errors.RightMissing(index=allowed.index.name)
    return allowed.index

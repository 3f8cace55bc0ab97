"""People, group limits and the audit log, for admins."""

from dataclasses import replace

from index_store.access.audit.audit import PAGE, Audit, EntryFilter, EntryPage, LostEntries, as_lines
from index_store.access.audit.entry import Action
from index_store.access.gate import Gate
from index_store.access.limits import GroupLimits, Limits
from index_store.access.people.people import People
from index_store.access.people.person import Person, names_of
from index_store.access.people.typed_names import typed
from index_store.access.principal import Principal, Role
from index_store.base.text.words import folded


class UserPeople:
    """The methods of `People` for one person. Each raises AdminNeeded, AccessWithdrawn, and errors of `People`."""

    def __init__(self, people: People, gate: Gate, audit: Audit) -> None:
        self._people = people
        self._gate = gate
        self._audit = audit

    def all(self) -> list[Person]:
        self._gate.require_admin()
        return self._people.all()

    def find(self, name: str) -> Person:
        self._gate.require_admin()
        return self._people.find(name)

    def add(self, name: str, role: Role | None = None) -> Person:
        admin = self._gate.require_admin()
        return noted(self._audit, Action.PERSON_ADDED, admin, self._people.add(name, role))

    def set_role(self, person_id: str, role: Role | None) -> Person:
        admin = self._gate.require_admin()
        return noted(self._audit, Action.ROLE_SET, admin, self._people.set_role(person_id, role))

    def disable(self, person_id: str) -> Person:
        admin = self._gate.require_admin()
        return noted(self._audit, Action.DISABLED, admin, self._people.disable(person_id))

    def enable(self, person_id: str) -> Person:
        admin = self._gate.require_admin()
        return noted(self._audit, Action.ENABLED, admin, self._people.enable(person_id))

    def erase(self, person_id: str) -> Person:
        """Their other data is erased by `PersonalData` in rag/runs/retention."""
        admin = self._gate.require_admin()
        return noted(self._audit, Action.ERASED, admin, self._people.erase(person_id))


def noted(audit: Audit, action: Action, by: Principal, person: Person) -> Person:
    """Records the action in the audit log and returns the person to whom it was done."""
    if action is Action.ERASED:  # what is left of the person has no role
        audit.note(action, by, whose=person.id)
    else:
        audit.note(action, by, whose=person.id, role=person.role, by_hand=person.role_is_given)
    return person


class UserLimits:
    """The methods of `Limits` for one person. Each raises AdminNeeded, AccessWithdrawn, and errors of `Limits`."""

    def __init__(self, limits: Limits, gate: Gate, audit: Audit) -> None:
        self._limits = limits
        self._gate = gate
        self._audit = audit

    def all(self) -> dict[str, GroupLimits]:
        self._gate.require_admin()
        return self._limits.all()

    def set(self, group: str, to: GroupLimits) -> None:
        admin = self._gate.require_admin()
        self._limits.set(group, to)
        self._audit.note(Action.LIMITS_SET, admin, group=group, **to.model_dump())


class UserAudit:
    """The methods of `Audit` for one person. Adds people's names: the log has only their ids. Each raises AdminNeeded,
    AccessWithdrawn, and errors of `Audit`.
    """

    def __init__(self, audit: Audit, gate: Gate, people: People) -> None:
        self._audit = audit
        self._gate = gate
        self._people = people

    @property
    def is_kept(self) -> bool:
        self._gate.require_admin()
        return self._audit.is_kept

    @property
    def lost(self) -> LostEntries | None:
        self._gate.require_admin()
        return self._audit.lost

    def read(
        self, filters: EntryFilter | None = None, *, latest: int | None = PAGE, before: str | None = None
    ) -> EntryPage:
        self._gate.require_admin()
        everybody, filters = self._people.all(), filters or EntryFilter()
        names = names_of(everybody)
        if sought := folded(typed(filters.person)):
            meant = (each.id for each in everybody if sought in folded(f"{names[each.id]}\n{each.mail}"))
            filters = replace(filters, person=typed(filters.person), called_so=frozenset(meant))
        filters = replace(filters, names=names)
        found = self._audit.read(filters, latest=latest, before=before)
        named = [each.model_copy(update={"name": names.get(each.person)}) for each in found.entries]
        return found._replace(entries=named)

    def as_lines(self, filters: EntryFilter, *, latest: int) -> str:
        admin = self._gate.require_admin()
        entries = self.read(filters, latest=latest).entries
        self._audit.note(Action.EXPORTED, admin, form="jsonl", entries=len(entries))
        return as_lines(entries)

"""The people of the app, for admins."""

from index_store.access.gate import Gate
from index_store.access.people import People, Person
from index_store.access.principal import Role


class UserPeople:
    """Methods of `People` in somebody's name. Each raises AdminNeeded and AccessWithdrawn, and what is raised there."""

    def __init__(self, people: People, gate: Gate) -> None:
        self._people = people
        self._gate = gate

    def all(self) -> list[Person]:
        self._gate.admin()
        return self._people.all()

    def find(self, name: str) -> Person:
        self._gate.admin()
        return self._people.find(name)

    def add(self, name: str, role: Role | None = None) -> Person:
        self._gate.admin()
        return self._people.add(name, role)

    def set_role(self, person_id: str, role: Role | None) -> Person:
        self._gate.admin()
        return self._people.set_role(person_id, role)

    def disable(self, person_id: str) -> Person:
        self._gate.admin()
        return self._people.disable(person_id)

    def enable(self, person_id: str) -> Person:
        self._gate.admin()
        return self._people.enable(person_id)

"""An engine for the local person, who may do everything, or for a person who signs in."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from index_store.access.gate import as_local
from index_store.access.grants import EVERYONE
from index_store.access.limits import GroupLimits
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from index_store.access.rights import Right
from rag.runs.engine import Engine, UserEngine
from rag.settings import Settings
from tests.helpers.back_doors import process_of


@contextmanager
def local_engine(settings: Settings | None = None, **parts: object) -> Iterator[UserEngine]:
    with Engine(settings, **parts) as process:
        yield process.as_user(as_local)


def as_person(engine: UserEngine, name: str, role: Role = Role.READER) -> UserEngine:
    """The same engine for a person who signs in."""
    process = process_of(engine)
    people = process.store.access.people
    principal = people.signed_in(SignInClaims("https://id.example.com", name, name=name))
    people.set_role(principal.id, role)
    return process.as_user(partial(process.store.access.principal, principal.id))


def in_group(engine: UserEngine, name: str, group: str, limits: GroupLimits) -> UserEngine:
    someone = as_person(engine, name)
    process_of(engine).store.access.people.signed_in(
        SignInClaims("https://id.example.com", name, name=name, groups=frozenset({group}))
    )
    process_of(engine).store.access.limits.set(group, limits)
    return someone


def grant(engine: UserEngine, index: str, right: Right = Right.READ) -> None:
    """Grants the right to everyone."""
    process_of(engine).store.access.grants.give(index, EVERYONE, right)

"""The principal: the person or program in whose name something is done."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    ADMIN = "admin"
    """may do everything"""
    EDITOR = "editor"
    """creates indexes, and does with others what grants allow"""
    READER = "reader"
    """only reads, as grants allow"""


@dataclass(frozen=True, slots=True)
class Principal:
    id: str
    """from the table of people; never used again"""
    name: str
    mail: str
    role: Role
    groups: frozenset[str] = frozenset()
    """from the last claims"""
    accounts: frozenset[str] = frozenset()
    """names that certainly belong to the person: the subject and, if verified, the mail address"""


LOCAL = Principal("local", "", "", Role.ADMIN)
"""the only person if nobody signs in; in no table"""

"""The principal: the person or program in whose name something is done."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    ADMIN = "admin"
    """everything"""
    EDITOR = "editor"
    """makes indexes, and does with others what is granted"""
    READER = "reader"
    """reads what is granted, and no more"""


@dataclass(frozen=True, slots=True)
class Principal:
    id: str
    """of the table of people, and never used again"""
    name: str
    mail: str
    role: Role
    groups: frozenset[str] = frozenset()
    """as last claimed"""
    accounts: frozenset[str] = frozenset()
    """names that are theirs for sure: the subject, and the mail address where it is verified"""


LOCAL = Principal("local", "", "", Role.ADMIN)
"""the one person where nobody signs in; in no table"""

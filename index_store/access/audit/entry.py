"""One entry of the audit log."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias

from pydantic import BaseModel

from index_store.base.text.shortened import shortened

LONGEST = 300
"""characters of one value"""

MOST = 50
"""values of a list that are written; for the others, only their number"""

HIDDEN = "***"

Fact: TypeAlias = str | int | float | bool | Sequence[str] | None


class Action(StrEnum):
    SIGNED_IN = "signed_in"
    SIGNED_OUT = "signed_out"
    SIGN_IN_REFUSED = "sign_in_refused"
    ASKED = "asked"
    SHARED = "shared"
    SHARE_OPENED = "share_opened"
    SHARE_REVOKED = "share_revoked"
    EXPORTED = "exported"
    CONVERSATION_DELETED = "conversation_deleted"
    DATA_DELETED = "data_deleted"
    EXPIRED = "expired"
    """old data was deleted"""
    INDEX_CREATED = "index_created"
    INDEX_RENAMED = "index_renamed"
    INDEX_DELETED = "index_deleted"
    INDEX_REBUILT = "index_rebuilt"
    GLOSSARY_SET = "glossary_set"
    ADDED = "added"
    REMOVED = "removed"
    OWNER_SET = "owner_set"
    GRANTED = "granted"
    GRANT_TAKEN = "grant_taken"
    PERSON_ADDED = "person_added"
    ROLE_SET = "role_set"
    DISABLED = "disabled"
    ENABLED = "enabled"
    ERASED = "erased"
    LIMITS_SET = "limits_set"
    LOST = "lost"
    """entries before this one could not be written"""
    UNREADABLE = "unreadable"
    """a line that is not ours, or was cut off by a power cut; never written"""


class Entry(BaseModel, frozen=True):
    at: datetime
    """UTC"""
    action: str
    """an Action, or one of a newer version"""
    person: str
    """the person's id"""
    name: str | None = None
    """the person's present name: added for readers, never written"""
    index: str | None = None
    """its name at that time"""
    facts: dict[str, Any] = {}


def aware_now() -> datetime:
    return datetime.now(UTC)


def cleaned(facts: Mapping[str, Fact], secrets: Collection[str]) -> dict[str, Fact]:
    """The facts as the log may hold them: without these secrets, and without passwords and tokens in addresses."""
    return {name: _fact(value, secrets) for name, value in facts.items() if value is not None}


def _fact(value: Fact, secrets: Collection[str]) -> Fact:
    if isinstance(value, str):
        return cleaned_text(value, secrets)
    if isinstance(value, Sequence):
        named = [cleaned_text(each, secrets) for each in value[:MOST]]
        return [*named, f"+{len(value) - MOST}"] if len(value) > MOST else named
    return value


def cleaned_text(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    text = _ADDRESS.sub(r"\1\2", text).encode("utf-8", "replace").decode()
    return shortened(text, LONGEST)


_ADDRESS = re.compile(r"(https?://)(?:[^\s/?#]*@)?([^\s?#]*)(?:[?#]\S*)?", re.IGNORECASE)
"""Kept: scheme, host and path. Before the host there may be a password; after the path there may be a value that
identifies a visitor."""

"""Invitations in mails (iCalendar, RFC 5545): when and where the event is, the first time if it repeats.

Most mails repeat the text of their invitation.
"""

import re
from datetime import date, datetime, timedelta
from email.message import Message

from index_store.base.errors import UnknownEncoding
from index_store.parsing.loaders.mail.message import content_of
from index_store.parsing.loaders.text.decode import decode

CALENDAR = "text/calendar"

_FOLD = re.compile(rb"\r?\n[ \t]")
"""inside a long line, perhaps inside a character"""
_PROPERTY = re.compile(r'([\w-]+)(?=[;:])((?:"[^"]*"|[^":])*):(.*)')
"""name, parameters, value; a parameter between quotation marks may hold a colon"""
_ZONE = re.compile(r';TZID="?([^";]+)', re.I)
_ESCAPED = re.compile(r"\\([\\;,nN])")


def event_of(part: Message, name: str) -> dict[str, str]:
    """Label -> value, of the first event; empty if there is none that can be read. `name` is that of the mail."""
    try:
        text = decode(_FOLD.sub(b"", content_of(part)), name, part.get_content_charset())
    except UnknownEncoding:
        return {}
    event = _first_event(text)
    start, end = event.get("DTSTART", ""), event.get("DTEND", "")
    found = {
        "Start": _when(start, event.get("DTSTART zone", "")),
        "End": _when(end, event.get("DTEND zone", ""), is_end=True) if end != start else "",
        "Location": _unescaped(event.get("LOCATION", "")),
        "Summary": _unescaped(event.get("SUMMARY", "")),
        "Description": _unescaped(event.get("DESCRIPTION", "")),
    }
    return {label: value for label, value in found.items() if value}


def _first_event(calendar: str) -> dict[str, str]:
    """Name -> value of its own properties, without those of its alarms; name and "zone" -> the time zone of a time."""
    event: dict[str, str] = {}
    inside: list[str] = []
    for line in calendar.splitlines():
        found = _PROPERTY.match(line)
        name, parameters, value = (found[1].upper(), found[2], found[3].strip()) if found else ("", "", "")
        if name == "BEGIN":
            inside.append(value.upper())
        elif name == "END":
            if inside[-1:] == ["VEVENT"]:
                break
            del inside[-1:]
        elif inside[-1:] == ["VEVENT"]:
            if name not in event and (zone := _ZONE.search(parameters)):
                event[f"{name} zone"] = zone[1]
            event.setdefault(name, value)
    return event


def _when(value: str, zone: str, *, is_end: bool = False) -> str:
    """Empty if it is no time. An end without an hour is the day after the last."""
    try:
        if "T" not in value:
            return str(date.fromisoformat(value) - timedelta(days=is_end))
        zone = "UTC" if value.endswith("Z") else zone
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M} {zone}".rstrip()
    except (ValueError, OverflowError):
        return ""


def _unescaped(value: str) -> str:
    """On one line."""
    return " ".join(_ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], value).split())

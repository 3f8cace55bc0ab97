"""Removes quotes of removed documents from stored events."""

import json
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

_DOCUMENT_ID = re.compile(r'"document_id":\s*"([^"]+)"')

_CHANGE = {"what", "before", "after"}
"""keys of a change by a person, in the origin of a fork"""

_NO_PLACES: Mapping[str, str] = {}


def without_documents(
    event: str,
    removed: AbstractSet[str],
    numbers: AbstractSet[int] = frozenset(),
    places: Mapping[str, str] = _NO_PLACES,
) -> str:
    """The event as JSON, with the passages of these documents blank; unchanged if it quotes none of them.

    `numbers`: the numbers of their passages in this run, for what does not name its document: old strips, and the
    changes of a fork. `places`: the titles of their passages, by their places, for the reason of a rewrite. The model's
    text stays: it is the answer that people got.
    """
    if places and '"type":"rewrite"' in event:
        event = _as_json(_without_places(json.loads(event), places))
    is_numbered = bool(numbers) and ('"strips":' in event or '"changes":' in event)
    if removed.isdisjoint(_DOCUMENT_ID.findall(event)) and not is_numbered:
        return event
    return _as_json(_blanked(json.loads(event), removed, numbers))


def without_prompt(event: str) -> str:
    """The event as JSON, without the prompt that a person has edited for a fork; unchanged if there is none. Nobody can
    tell which of its words are a document's.
    """
    if '"what":"prompt"' not in event:
        return event
    value = json.loads(event)
    for change in (value.get("origin") or {}).get("changes", ()):
        if change["what"] == "prompt":
            change |= {"before": "", "after": ""}
    return _as_json(value)


def _as_json(value: Any) -> str:
    """In Pydantic's form: the history finds events by the beginning of their JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def quotes(event: str, removed: AbstractSet[str]) -> bool:
    """True if the event has a passage of these documents, or names a place in them: a near duplicate, or what a person
    left out.
    """
    return any(each.keys() & {"number", "headings"} for each in naming(event, removed))


def numbers_of(event: str, removed: AbstractSet[str]) -> set[int]:
    """The numbers of the passages of these documents."""
    return {each["number"] for each in naming(event, removed) if "number" in each}


def _without_places(event: Any, places: Mapping[str, str]) -> Any:
    """The event of a rewrite, with only the titles of these passages in its reason."""
    lines = (_without_place(line, places) for line in event["detail"].get("reason", "").split("\n"))
    return event | {"detail": event["detail"] | {"reason": "\n".join(lines)}}


def _without_place(line: str, places: Mapping[str, str]) -> str:
    for named in sorted(places, key=len, reverse=True):
        if line == named or line.startswith(f"{named}: "):
            return places[named] + line[len(named) :]
    return line


def _blanked(value: Any, removed: AbstractSet[str], numbers: AbstractSet[int]) -> Any:
    if isinstance(value, list):
        return [_blanked(each, removed, numbers) for each in value]
    if not isinstance(value, dict):
        return value
    blanked = {key: _blanked(each, removed, numbers) for key, each in value.items()}
    is_strip = "passage" in value and "kept" in value
    is_removed = value.get("document_id") in removed or (
        is_strip and not value.get("document_id") and value["passage"] in numbers
    )
    if is_removed and "text" in value:
        blanked["text"] = ""
        if not is_strip:
            blanked |= {"header": "", "removed": True}
    if is_removed and "headings" in value:
        blanked["headings"] = []
    if value.keys() >= _CHANGE and value.get("passage") in numbers:
        blanked |= {side: _without_headings(value[side]) for side in ("before", "after")}
    return blanked


def _without_headings(place: str) -> str:
    """Only the title of a document, from what `place` in rag/text/places.py wrote."""
    return re.split(" > |…", place, maxsplit=1)[0]


def naming(event: str, removed: AbstractSet[str]) -> list[dict[str, Any]]:
    """The objects of the event that name one of these documents."""
    return [] if removed.isdisjoint(_DOCUMENT_ID.findall(event)) else list(_within(json.loads(event), removed))


def _within(value: Any, removed: AbstractSet[str]) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for each in value:
            yield from _within(each, removed)
    elif isinstance(value, dict):
        if value.get("document_id") in removed:
            yield value
        yield from _within(list(value.values()), removed)

"""The JSON objects in a text of a model, which also writes them as Python does, with slips, or as lines."""

import json
import re
from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

MOST_BRACES = 100
"""limit for braces that begin no JSON: for each of them, the text would be read to its end"""

_LAST_COMMA = re.compile(r",(?=\s*+[}\]])")
_SINGLE_QUOTED = re.compile(r"(?<=[{\[,:\s])'([^'\n]*+)'(?=\s*+[:,}\]])")
_QUOTE = re.compile(r'\\.|[{\[,:]\s*+"|"(?=\s*+(?:[:}\]]|,\s*+"))|(")', re.DOTALL)
"""an escape, then a quotation mark that begins a string of JSON, one that ends it, and one inside"""
_AROUND_FIELD = " \t　-*_`\"'[],"


def written_json(text: str) -> Iterator[list[Object]]:
    """The objects in `text` by each way to read it, the strictest first: JSON in a fence or in prose; with a comma
    behind the last value, single quotes, or quotation marks that are not escaped; lines such as 'verdict: yes'.
    """
    yield _objects(text)
    without_commas = _LAST_COMMA.sub("", text)
    yield _objects(without_commas)
    yield _objects(_requoted(without_commas))
    yield _of_lines(text)


def _requoted(text: str) -> str:
    text = _SINGLE_QUOTED.sub(lambda quoted: json.dumps(quoted[1]), text)
    return _QUOTE.sub(lambda quote: '\\"' if quote[1] else quote[0], text)


def _objects(text: str) -> list[Object]:
    found = []
    decoder = json.JSONDecoder(strict=False)  # a reason may have a line break that is not escaped
    at = text.find("{")
    failed = 0
    while at != -1 and failed < MOST_BRACES:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError, too
            failed += 1
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            found.append(value)
        at = text.find("{", end)
    return found


def _of_lines(text: str) -> list[Object]:
    """The object whose fields are the lines; none if a line is anything else."""
    lines = [line.replace("：", ":").partition(":") for line in text.splitlines() if line.strip()]
    fields = {name.strip(_AROUND_FIELD): value.strip(_AROUND_FIELD) for name, _, value in lines}
    return [fields] if len(fields) == len(lines) and all(map(str.isidentifier, fields)) else []

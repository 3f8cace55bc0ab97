"""JSON that a model was asked for, and what it wrote of it, read with the patience that models need."""

import json


def schema(name: str, properties: dict[str, dict]) -> dict:
    """As OpenAI's `response_format` takes it: an object of these properties, all of them and no others."""
    return {
        "name": name,
        "strict": True,
        "schema": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
    }


def json_objects(text: str) -> list[dict]:
    """Those that stand in `text`, in a fence or among prose."""
    found = []
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at != -1:
        try:
            value, length = decoder.raw_decode(text[at:])
        except (json.JSONDecodeError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            found.append(value)
        at = text.find("{", at + length)
    return found

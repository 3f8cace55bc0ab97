"""The form of JSON in databases."""

import json


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

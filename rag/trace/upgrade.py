"""Upgrades events of earlier versions to the present form before they are read.

Before 0.1.0, a grade from log-probabilities had a `margin`, its `parts` by name, and a `cut` instead of an
`explanation`; and a step had no `role`, which followed from the step's name.
"""

import json
from typing import Any

_PARTS = {
    "asked": ("yes or no", "はい・いいえ"),
    "words": ("words of the question", "質問の言葉"),
    "named": ("names or numbers of no passage", "文書にない名前や数字"),
    "unsourced": ("a sentence of no passage", "どの文書にもない文"),
    "confidence": ("how surely it was written", "書いたときの確かさ"),
}


_ROLES = {
    "generate": "answers",
    "answer_from_memory": "answers_from_model",
    "small_talk": "answers_from_model",
    "check_grounding": "checks",
    "check_usefulness": "checks",
    "check_answer": "checks",
    "decline": "declines",
    "rewrite_question": "rewrites",
    "rewrite_for_web": "rewrites",
}


def upgraded(event: str) -> str:
    """An event as JSON; unchanged if it has the present form."""
    if '"role":' in event or not ('"step_finished"' in event or '"margin":' in event):
        return event
    changed = _upgrade(json.loads(event))
    if isinstance(changed, dict) and changed.get("kind") == "step_finished":
        changed["role"] = _ROLES.get(changed["step"])
    return json.dumps(changed, ensure_ascii=False)


def _upgrade(value: Any) -> Any:
    if isinstance(value, list):
        return [_upgrade(each) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _upgrade(each) for key, each in value.items()}
    if changed.keys() >= {"verdict", "margin"}:
        margin, parts, threshold = changed.pop("margin"), changed.pop("parts", {}), changed.pop("cut", None)
        if margin is not None and threshold is not None:
            changed["explanation"] = _explanation(parts or {"asked": margin}, threshold)
    return changed


def _explanation(parts: dict[str, float], threshold: float) -> dict[str, Any]:
    factors = [{"en": _PARTS[name][0], "ja": _PARTS[name][1], "value": value} for name, value in parts.items()]
    return {"en": "log-odds", "ja": "対数オッズ", "factors": factors, "threshold": threshold}

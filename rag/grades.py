"""How a grader's answer becomes a Grade: by JSON schema, or by the log-probabilities of one token."""

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from rag.structured import json_objects, schema
from rag.trace import Grade

Message = tuple[Literal["system", "user", "assistant"], str]
Prompt = list[Message]


@dataclass(frozen=True)
class GradingPrompt:
    """A yes-or-no question to a grader."""

    messages: Prompt
    cut: float = 0.0
    """for graders read by their margin: from which on it counts as yes; calibrated with this very wording"""
    prior: float = 0.0
    """what is known before the model is asked, in the margin's unit, and added to it"""


class Verdict(BaseModel):
    """What a grader with structured output is asked to return."""

    reason: str = Field(default="", description="one short sentence")
    verdict: Literal["yes", "no"]
    score: float | None = Field(default=None, ge=0, le=1, description="0 to 1, how sure of yes")


VERDICT_SCHEMA = schema(
    "verdict",
    {
        "reason": {"type": "string", "description": "one short sentence"},
        "verdict": {"type": "string", "enum": ["yes", "no"]},
        "score": {"type": "number", "description": "0 to 1, how sure of yes"},
    },
)

_WORDS: dict[str, Literal["yes", "no"]] = {
    "yes": "yes",
    "はい": "yes",
    "true": "yes",
    "no": "no",
    "いいえ": "no",
    "false": "no",
}


def read_verdict(text: str) -> Grade | None:
    """What a grader wrote, as a Grade, with the patience that models need: JSON among prose or in a fence, a lone
    'Yes.' or 'はい'. None where neither yes nor no can be read from it.
    """
    for candidate in json_objects(text):
        grade = _from_json(candidate)
        if grade is not None:
            return grade
    word = re.match(r"\W*(yes|no|はい|いいえ)(?!\w)", text, re.IGNORECASE)
    return _grade(_WORDS[word[1].lower()], None, "") if word else None


def _from_json(value: dict) -> Grade | None:
    said = {key.lower(): part for key, part in value.items() if isinstance(key, str)}
    word = said.get("verdict", said.get("binary_score"))
    if isinstance(word, bool):
        word = "yes" if word else "no"
    said["verdict"] = _WORDS.get(str(word).strip().strip(".。").lower())
    try:
        verdict = Verdict.model_validate(said)
    except ValidationError:
        if said["verdict"] is None:
            return None
        verdict = Verdict(verdict=said["verdict"], reason=str(said.get("reason", "")))
    return _grade(verdict.verdict, verdict.score, verdict.reason)


def _grade(verdict: Literal["yes", "no"], score: float | None, reason: str) -> Grade:
    # A score on the wrong side of the verdict is a model that took it for its confidence in the verdict.
    if score is not None and (score >= 0.5) != (verdict == "yes"):
        score = 1 - score
    return Grade(verdict=verdict, score=score, reason=reason.strip())


UNREADABLE = Grade(verdict="unknown", score=None)

"""How a grader's answer becomes a Grade: by JSON schema, or by the log-probabilities of one token."""

import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from index_store.base.errors import Failure
from rag.errors import PASSING
from rag.models.service.structured import json_objects, schema
from rag.trace import Grade, Level, MarginPart, Support, Usefulness

T = TypeVar("T", bound=Grade)

Message = tuple[Literal["system", "user", "assistant"], str]
Prompt = list[Message]


@dataclass(frozen=True)
class GradingPrompt:
    """A yes-or-no question to a grader."""

    messages: Prompt
    cut: float = 0.0
    """for graders read by their margin: from which on it counts as yes; calibrated with this very wording"""
    priors: Mapping[MarginPart, float] = field(default_factory=dict)
    """what is known before the model is asked, in the margin's unit, and added to it"""
    negated: bool = False
    """asked the other way round: its no is a yes; for the same graders"""


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

SUPPORT_SCHEMA = schema(
    "support",
    {
        "reason": {"type": "string", "description": "one short sentence"},
        "unsupported": {"type": "array", "items": {"type": "string"}, "description": "claims without support"},
        "support": {"type": "string", "enum": ["fully", "partly", "no"]},
    },
)

USEFULNESS_SCHEMA = schema(
    "usefulness",
    {
        "reason": {"type": "string", "description": "one short sentence"},
        "rating": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
)

LEAST_USEFUL = 3
"""the rating from which on an answer counts as useful"""

_LEVELS: dict[str, Level] = {
    "fully": "fully", "full": "fully", "fully supported": "fully",
    "partly": "partly", "partially": "partly", "partial": "partly", "partially supported": "partly",
    "no": "no", "not": "no", "none": "no", "no support": "no",
}  # fmt: skip
_SCORES: dict[Level, float] = {"fully": 1.0, "partly": 0.4, "no": 0.0}
"""of a grader that gives none: partly is not enough"""

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
    'Yes.' or 'はい'. None where neither yes nor no can be read from it, or both: it may repeat what a passage says.
    """
    found = [grade for said in json_objects(text) if (grade := _from_json(said))]
    if found:
        return _agreed(found)
    word = re.match(r"\W*(yes|no|はい|いいえ)(?!\w)", text, re.IGNORECASE)
    return _grade(_WORDS[word[1].lower()], None, "") if word else None


def read_support(text: str) -> Support | None:
    """The same of `SUPPORT_SCHEMA`; a bare yes or no is full support or none."""
    found = []
    for said in json_objects(text):
        level = _LEVELS.get(str(said.get("support", "")).strip().strip(".。").lower())
        if level:
            claims = said.get("unsupported")
            found.append(
                Support(
                    verdict="yes" if level == "fully" else "no",
                    score=_SCORES[level],
                    reason=str(said.get("reason") or "").strip(),
                    level=level,
                    unsupported=tuple(filter(None, map(_line, claims))) if isinstance(claims, list) else (),
                )
            )
    if found:
        return _agreed(found)
    grade = read_verdict(text)
    return grade and Support(**grade.model_dump(), level="fully" if grade.verdict == "yes" else "no")


def read_usefulness(text: str) -> Usefulness | None:
    """The same of `USEFULNESS_SCHEMA`; a bare yes or no is a rating of 5 or 1."""
    found = []
    for said in json_objects(text):
        rating = re.fullmatch(r"\s*([1-5])(?:\.0+)?(?:\s*/\s*5)?\s*", str(said.get("rating")))
        if rating:
            stars = int(rating[1])
            found.append(
                Usefulness(
                    verdict="yes" if stars >= LEAST_USEFUL else "no",
                    score=(stars - 1) / 4,
                    reason=str(said.get("reason") or "").strip(),
                    rating=stars,
                )
            )
    if found:
        return _agreed(found)
    grade = read_verdict(text)
    return grade and Usefulness(**grade.model_dump(), rating=5 if grade.verdict == "yes" else 1)


def _agreed(found: list[T]) -> T | None:
    """The last one; None where they contradict each other."""
    return found[-1] if len({grade.verdict for grade in found}) == 1 else None


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


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
UNREADABLE_SUPPORT = Support(**UNREADABLE.model_dump())
UNREADABLE_USEFULNESS = Usefulness(**UNREADABLE.model_dump())


async def or_unknown(asking: Awaitable[T], unknown: T) -> tuple[T, Failure | None]:
    """The grade; `unknown`, with what failed, where its grader failed in a way that says nothing of the next one."""
    try:
        return await asking, None
    except PASSING as error:
        return unknown, error.as_failure()

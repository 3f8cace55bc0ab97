"""The JSON replies of models: one Pydantic type each, for both the schema and the parser.

Models put JSON into prose or a fence, write it as Python does or as lines, use other words or cases than requested, or
answer with a bare 'Yes.'. The parser accepts everything that is clear, and nothing that contradicts itself.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError, WithJsonSchema

from rag.text.reply.surrogates import whole_characters
from rag.text.reply.written_json import written_json
from rag.trace.grades import Grade, Grounding, Level, Usefulness

G = TypeVar("G", bound=Grade)

LEAST_USEFUL = 3
"""the rating from which an answer counts as useful"""

_YES_NO = {
    "yes": "yes", "はい": "yes", "true": "yes", "relevant": "yes",
    "no": "no", "いいえ": "no", "false": "no", "irrelevant": "no", "not relevant": "no",
}  # fmt: skip
_LEVELS = {
    "fully": "fully", "full": "fully", "fully supported": "fully", "yes": "fully", "true": "fully",
    "partly": "partly", "partially": "partly", "partial": "partly", "partially supported": "partly",
    "supported": "fully", "no": "no", "not": "no", "none": "no", "no support": "no", "not supported": "no",
    "unsupported": "no", "false": "no",
}  # fmt: skip
_SCORES: dict[Level, float] = {"fully": 1.0, "partly": 0.4, "no": 0.0}
"""for a grader without a score: partly is not enough"""


def _word(value: object) -> str:
    return str(value).strip().strip("*.。").replace("_", " ").lower()


def _score(value: object) -> float | None:
    is_number = isinstance(value, int | float | str) and not isinstance(value, bool)
    try:
        score = float(value) if is_number else None  # type: ignore[arg-type]  # other types are caught
    except ValueError:
        return None
    return score if score is not None and 0 <= score <= 1 else None


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _lines(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_line, value))) if isinstance(value, list) else ()


_NO_CLAIM = frozenset(
    {
        "", "none", "null", "nothing", "n/a", "no", "no claims", "no unsupported claims", "なし", "無し", "特になし",
        "該当なし", "ありません", "特にありません", "該当ありません", "資料に書かれていない主張はありません",
        "資料に書かれていない主張はない",
    }
)  # fmt: skip


def _claims(value: object) -> tuple[str, ...]:
    """Without a word that says that there is none."""
    claims = (_line(whole_characters(text)) for text in _texts(value))
    return tuple(claim for claim in claims if _word(claim).strip("()（）[]\"'- ") not in _NO_CLAIM)


def _texts(value: object) -> list[str]:
    """Every text in it: models write one, a list, or objects for what should be a list of texts."""
    found, left = list[str](), [value]
    while left:
        match left.pop():
            case str(text):
                found.append(text)
            case list(several):
                left += reversed(several)
            case dict(named):
                left += reversed(named.values())
    return found


_STARS = re.compile(r"[\s*]*+(?:rating[\s:*]++)?([1-5])(?:\.0+)?(?:\s*+/\s*+5)?[\s*.。]*+", re.IGNORECASE)


def _rating(value: object) -> object:
    """Also reads '4', 4.0, '4/5' and 'Rating: 4', with digits of any width."""
    if isinstance(value, bool):
        return None  # `true` equals 1
    stars = _STARS.fullmatch(unicodedata.normalize("NFKC", str(value)))
    return int(stars[1]) if stars else value


Reason = Annotated[
    str,
    BeforeValidator(lambda value: str(value or "").strip()),
    WithJsonSchema({"type": "string", "description": "one short sentence"}),
]


class Reply(BaseModel):
    """The type of a model's reply. Its fields, in order, are those of the schema."""

    @classmethod
    def schema_name(cls) -> str:
        return cls.__name__.removesuffix("Reply").lower()

    @classmethod
    @cache
    def json_schema(cls) -> dict[str, Any]:
        """In the form of OpenAI's `response_format`: an object with all of these properties and no others."""
        properties = cls.model_json_schema(by_alias=True)["properties"]
        for each in properties.values():
            each.pop("title", None)
            each.pop("default", None)
        return {
            "name": cls.schema_name(),
            "strict": True,
            "schema": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            },
        }

    @classmethod
    def found_in(cls, text: str) -> list[Self]:
        """All objects of this kind in `text`, by the strictest way to read it that finds one."""
        read = ([reply for each in objects if (reply := cls._read_from(each))] for objects in written_json(text))
        return next(filter(None, read), [])

    @classmethod
    def _read_from(cls, given: dict[str, Any]) -> Self | None:
        """Some models wrap a reply, as in {"name": "verdict", "parameters": {...}}."""
        for each in (given, *(value for value in given.values() if isinstance(value, dict))):
            try:
                return cls.model_validate({key.lower(): _whole(value) for key, value in each.items()})
            except ValidationError:
                continue
        return None


_VERDICT = re.compile(
    r"\W*(?:(?:verdict|relevan(?:t|ce)|judge?ment|grade|判定|関連性?)\W+)?(yes|no|はい|いいえ)"
    r"(?!\w)(?!\W{0,3}(?:[/|]|and\b|or\b)\W{0,3}(?!\1)(?:yes|no)\b)",
    re.IGNORECASE,
)
"""the first word of a reply, or behind its label; none if the other one follows at once, as in 'Yes and no'"""


class RelevanceReply(Reply):
    """A yes or no, with its reason."""

    reason: Reason = ""
    verdict: Annotated[
        Literal["yes", "no"],
        BeforeValidator(lambda value: _YES_NO.get(_word(value), value)),
        Field(validation_alias=AliasChoices("verdict", "binary_score", "relevance", "relevant")),
    ]
    score: Annotated[
        float | None,
        BeforeValidator(_score),
        WithJsonSchema({"type": "number", "description": "0 to 1, how sure of yes"}),
    ] = None

    @classmethod
    def schema_name(cls) -> str:
        return "verdict"

    def grade(self) -> Grade:
        score = self.score
        if score is not None and self.verdict == "yes":
            score = max(score, 0.5)  # an unsure yes is still a yes, and never a sure one
        elif score is not None and score >= 0.5:
            score = 1 - score  # the model gave its confidence in the no
        return Grade(verdict=self.verdict, score=score, reason=self.reason)

    @classmethod
    def read(cls, text: str) -> Grade | None:
        """None if `text` has no clear yes or no, or both: it may repeat what a passage says."""
        if found := cls.found_in(text):
            return _agreed(each.grade() for each in found)
        word = _VERDICT.match(text)
        return cls.model_validate({"verdict": word[1]}).grade() if word else None


class GroundingReply(Reply):
    """How far an answer is grounded, and which of its claims are not."""

    reason: Reason = ""
    unsupported: Annotated[
        tuple[str, ...],
        BeforeValidator(_claims),
        WithJsonSchema({"type": "array", "items": {"type": "string"}, "description": "claims without support"}),
    ] = ()
    level: Annotated[
        Literal["fully", "partly", "no"],
        BeforeValidator(lambda value: _LEVELS.get(_word(value), value)),
        Field(validation_alias=AliasChoices("support", "supported")),
    ]

    @classmethod
    def schema_name(cls) -> str:
        return "support"

    def grade(self) -> Grounding:
        return Grounding(
            verdict="yes" if self.level == "fully" else "no",
            score=_SCORES[self.level],
            reason=self.reason,
            level=self.level,
            unsupported=self.unsupported,
        )

    @classmethod
    def read(cls, text: str) -> Grounding | None:
        """The same; a bare yes or no means fully or not at all. Full support with claims that have none is no clear
        reply.
        """
        if found := cls.found_in(text):
            is_clear = not any(each.level == "fully" and each.unsupported for each in found)
            return _agreed(each.grade() for each in found) if is_clear else None
        if grade := RelevanceReply.read(text):
            return Grounding(**dict(grade), level="fully" if grade.verdict == "yes" else "no")
        level = _LEVELS.get(_word(text))
        return cls.model_validate({"support": level}).grade() if level else None


class UsefulnessReply(Reply):
    """One to five stars."""

    reason: Reason = ""
    rating: Annotated[
        Literal[1, 2, 3, 4, 5],
        BeforeValidator(_rating),
        WithJsonSchema({"type": "integer", "enum": [1, 2, 3, 4, 5]}),
    ]

    def grade(self) -> Usefulness:
        return Usefulness(
            verdict="yes" if self.rating >= LEAST_USEFUL else "no",
            score=(self.rating - 1) / 4,
            reason=self.reason,
            rating=self.rating,
        )

    @classmethod
    def read(cls, text: str) -> Usefulness | None:
        """The same, or a bare rating; a bare yes or no is a rating of 5 or 1."""
        if found := cls.found_in(text):
            return _agreed(each.grade() for each in found)
        if isinstance(stars := _rating(text), int):
            return cls.model_validate({"rating": stars}).grade()
        grade = RelevanceReply.read(text)
        return Usefulness(**dict(grade), rating=5 if grade.verdict == "yes" else 1) if grade else None


class RouteReply(Reply):
    """The route of a question."""

    reason: Reason = ""
    route: Annotated[Literal["talk", "documents", "web"], BeforeValidator(_word)]

    @classmethod
    def read(cls, text: str) -> Self | None:
        if found := cls.found_in(text):
            return found[0]
        word = re.match(r"\W*(talk|documents|web)\W*$", text, re.IGNORECASE)
        return cls.model_validate({"route": word[1]}) if word else None


class KeywordsReply(Reply):
    """Search words."""

    words: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> tuple[str, ...]:
        """Reads JSON with a list under any key, or a list with commas, bullets or lines."""
        for each in chain.from_iterable(written_json(text)):
            for value in each.values():
                if isinstance(value, list):
                    return _bare(word for word in _whole(value) if isinstance(word, str))
        return _bare(_BULLET.sub("", part) for part in _SEPARATOR.split(_LABEL.sub("", text)))


class FollowUpsReply(Reply):
    """Questions that may come next."""

    questions: tuple[str, ...]

    @classmethod
    def schema_name(cls) -> str:
        return "questions"

    @classmethod
    def read(cls, text: str) -> tuple[str, ...] | None:
        """Reads JSON with a list under any key, or lines that are questions. None if there is neither."""
        for each in chain.from_iterable(written_json(text)):
            for value in each.values():
                if isinstance(value, list):
                    return tuple(dict.fromkeys(_lines(_whole(value))))
        lines = (_line(_BULLET.sub("", line)) for line in text.splitlines())
        return tuple(dict.fromkeys(line for line in lines if line.endswith(("?", "？")))) or None


_SEPARATOR = re.compile(r"[,、，;；\n\t]|・(?=\s)|\s[|/]\s")
_DECORATION = " 　\"'“”‘’「」『』【】[]*`_.。:："
_BULLET = re.compile(r"^\s*(?:[-*・•]|\d{1,2}[.)])\s+")
_LABEL = re.compile(r"^\s*(?:(?:search |key)?words|検索語|キーワード)\s*[:：]", re.IGNORECASE)


def _bare(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(bare for word in words if (bare := " ".join(word.strip(_DECORATION).split())))


def _agreed(grades: Iterable[G]) -> G | None:
    """The last one; None if they contradict each other."""
    found = list(grades)
    return found[-1] if len({grade.verdict for grade in found}) == 1 else None


def _whole(value: Any) -> Any:
    """The strings of a reply in whole characters: an escape may be half of one. Deeper than in a list only claims have
    them, which `_claims` reads.
    """
    if isinstance(value, list):
        return [whole_characters(each) if isinstance(each, str) else each for each in value]
    return whole_characters(value) if isinstance(value, str) else value

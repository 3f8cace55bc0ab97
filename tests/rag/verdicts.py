"""Replies of the graders of a service model, and a script in which all of them say yes."""

import json

from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.rag.scripted import ScriptedChat

SECRET_WORD = "xylophone"
"""in every reason: tests look for it where a grader's words must not be"""


def verdict(word: str, score: float) -> str:
    return json.dumps({"reason": f"{SECRET_WORD}: because", "verdict": word, "score": score})


def grounding(level: str, *unsupported: str) -> str:
    return json.dumps({"reason": f"{SECRET_WORD}: because", "unsupported": unsupported, "support": level})


def rating(stars: int, reason: str = f"{SECRET_WORD}: because") -> str:
    return json.dumps({"reason": reason, "rating": stars})


YES = verdict("yes", 0.9)
NO = verdict("no", 0.1)
PROSE = "I would rather talk about the weather."


def approve(chat: ScriptedChat) -> None:
    """Every grader says yes, in both languages, unless a later rule says otherwise."""
    for words in (EN, JA):
        for instructions in (words.relevance, words.grounding, words.usefulness):
            chat.answer_when(instructions, answer=YES)

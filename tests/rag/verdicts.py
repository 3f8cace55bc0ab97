"""What a grader behind a key answers, and the words by which its prompts are told apart."""

import json

from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.rag.scripted import ScriptedChat

SECRET_WORD = "xylophone"
"""stands in every reason, so that a test can look for it where no grader's word belongs"""


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
    """Every grader says yes, in either language, unless a later rule says otherwise."""
    for words in (EN, JA):
        for instructions in (words.relevance, words.grounding, words.usefulness):
            chat.answer_when(instructions, answer=YES)

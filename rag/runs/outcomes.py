"""What an answer is worth, in a sentence for whoever reads it without a page."""

from rag.text.language import Language
from rag.trace import Outcome

_SENTENCES: dict[Outcome, dict[Language, str]] = {
    "unconfirmed": {
        "en": "The checks did not confirm this answer. Read it with its sources.",
        "ja": "この回答は確認に合格していません。出典と照らしてお読みください。",
    },
    "from_model": {
        "en": "This comes from what the model remembers, not from any document: nothing bears it out.",
        "ja": "この回答はモデルの記憶によるもので、文書の裏付けはありません。",
    },
}
"""of those that a reader has to be warned of; an honest no says so itself"""


def warning(outcome: Outcome | None, language: Language) -> str | None:
    words = _SENTENCES.get(outcome) if outcome else None
    return words[language] if words else None

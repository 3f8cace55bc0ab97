"""The prompts for the embedded model of 1.5 billion parameters: short and plain, with the passages first.

It is not asked to cite, nor given leave to say 'not found': with either it answers worse
(docs/decisions/embedded-chat-model.md).
"""

from collections.abc import Sequence

from rag.grades import Prompt
from rag.language import Language
from rag.prompts.embedded_grading import SYSTEM, grounding, relevance, usefulness
from rag.prompts.fence import fenced, passages_block
from rag.trace import Passage

__all__ = ["answer", "grounding", "keywords", "relevance", "rewrite", "usefulness"]

_LANGUAGE: dict[Language, str] = {"ja": "Japanese", "en": "English"}

PICKING = (
    "For each question, copy out its search words: the names, terms and numbers in it, as they are written, "
    "separated by commas. Do not answer the question."
)
SEARCH_WORDS: dict[Language, dict[str, str]] = {
    "ja": {
        "VPNに接続するソフトの名前は何ですか?": "VPN, 接続, ソフト",
        "2020年に制定された育児休業の規程では、契約社員は休みを何日取れますか": "2020年, 育児休業, 規程, 契約社員",
    },
    "en": {
        "What is the name of the software that connects to the VPN?": "software, VPN",
        "How many days off may contract staff take under the parental leave rules made in 2020?": (
            "contract staff, parental leave, rules, 2020"
        ),
    },
}
"""questions with theirs"""


def answer(question: str, passages: Sequence[Passage], language: Language, rejected: str | None = None) -> Prompt:
    task = f"Answer the question from the passages above in one short sentence in {_LANGUAGE[language]}."
    if rejected:
        task += f" This answer was wrong:\n{fenced('rejected', rejected)}"
    return [("system", SYSTEM), ("user", f"{passages_block(passages)}\n\n{task}\nQuestion: {question}")]


def keywords(question: str, language: Language) -> Prompt:
    """Shown twice how it is done: told alone, it answers the question or copies the instructions."""
    shown = [
        message
        for asked, words in SEARCH_WORDS[language].items()
        for message in (("user", f"Question: {asked}"), ("assistant", f"Search words: {words}"))
    ]
    return [("system", PICKING), *shown, ("user", f"Question: {question}")]


def rewrite(question: str, query: str, language: Language) -> Prompt:
    task = f"Write this question in other words, in {_LANGUAGE[language]}, on one line, and nothing else."
    return [("system", SYSTEM), ("user", f"{task}\nQuestion: {question}")]

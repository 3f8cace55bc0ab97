"""Splits Japanese text into morphemes with Sudachi and its core dictionary: the shortest units (mode A), normalised."""

import re
import threading
from collections.abc import Iterator
from enum import Enum, auto
from functools import cached_property
from importlib.metadata import version
from typing import Any, NamedTuple

PIECE = 10_000
"""characters per call: Sudachi refuses more than 49,149 bytes, and a character has up to 4"""

_SENTENCE = re.compile(r"[^\n。！!？?]*[\n。！!？?]*")

DICTIONARY = f"{version('sudachipy')}-{version('sudachidict_core')}"
"""another dictionary may split the same text differently"""


class Kind(Enum):
    CONTENT = auto()
    PARTICLE = auto()
    AUXILIARY = auto()
    SIGN = auto()


class Morpheme(NamedTuple):
    start: int
    end: int
    normal: str
    """one spelling for several: サーバ and ｻｰﾊﾞｰ are サーバー, 引越し is 引っ越し, 教えて is 教える"""
    kind: Kind
    is_fixed: bool
    """whether it is a word of the dictionary without endings: no shorter term of a glossary begins or ends inside it"""


_KINDS = {
    "助詞": Kind.PARTICLE,
    "助動詞": Kind.AUXILIARY,
    "補助記号": Kind.SIGN,
    "空白": Kind.SIGN,
}
"""by the first level of Sudachi's parts of speech"""

_WITH_ENDINGS = "動詞", "形容詞"


class Sudachi:
    """Loaded at first use, in 0.1 s: its 200 MB are mapped, not read. Threads take turns, one piece of text each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: dict[int, Kind] = {}

    def morphemes(self, text: str) -> list[Morpheme]:
        """The morphemes of folded text; offsets in characters."""
        found: list[Morpheme] = []
        for start, piece in _pieces(text):
            with self._lock:
                for each in self._tokenizer.tokenize(piece):
                    kind = self._kind(each)
                    normal = each.normalized_form() if kind is Kind.CONTENT else ""
                    is_fixed = each.part_of_speech()[0] not in _WITH_ENDINGS and not each.is_oov()
                    found.append(Morpheme(start + each.begin(), start + each.end(), normal, kind, is_fixed))
        return found

    def _kind(self, morpheme: Any) -> Kind:
        id_ = morpheme.part_of_speech_id()
        if id_ not in self._kinds:
            self._kinds[id_] = _KINDS.get(morpheme.part_of_speech()[0], Kind.CONTENT)
        return self._kinds[id_]

    @cached_property
    def _tokenizer(self) -> Any:
        # Imported here: `--help` and the parser's processes don't need it.
        from sudachipy import Config, Dictionary

        # Leaves out the plug-in that reads 梅雨(つゆ) as one word and so hides the reading.
        plugins = [
            {"class": "com.worksap.nlp.sudachi.DefaultInputTextPlugin"},
            {
                "class": "com.worksap.nlp.sudachi.ProlongedSoundMarkPlugin",
                "prolongedSoundMarks": ["ー", "⁓", "〜", "〰"],
                "replacementSymbol": "ー",
            },
        ]
        dictionary = Dictionary(config=Config(system="core", inputTextPlugin=plugins))
        return dictionary.tokenizer(mode="A", fields={"pos", "normalized_form"})


SUDACHI = Sudachi()


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each piece. A piece ends at the end of a sentence where possible."""
    start = end = 0
    for sentence in _SENTENCE.finditer(text):
        if sentence.end() - start > PIECE and end > start:
            yield start, text[start:end]
            start = end
        end = sentence.end()
        while end - start > PIECE:
            yield start, text[start : start + PIECE]
            start += PIECE
    if end > start:
        yield start, text[start:end]

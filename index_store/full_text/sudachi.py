"""Splits Japanese text into morphemes with Sudachi and its core dictionary: the shortest units (mode A), but verbs
whole, normalised.
"""

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
    noun: str
    """of a verb, its noun: 申し込み of 申し込む; of other words, `normal`"""
    lemma: str
    """of a word with endings, as dictionaries list it: 使える of 使えない; of other words, empty"""
    kind: Kind
    is_fixed: bool
    """whether it is a word of the dictionary without endings: no shorter term of a glossary begins or ends inside it"""


_FIELDS = {"pos", "normalized_form", "dictionary_form", "reading_form", "split_a"}
"""what is read of each word of the dictionary"""

_KINDS = {
    "助詞": Kind.PARTICLE,
    "助動詞": Kind.AUXILIARY,
    "補助記号": Kind.SIGN,
    "空白": Kind.SIGN,
}
"""by the first level of Sudachi's parts of speech"""

_VERB = "動詞"
_NOUN = "名詞", "普通名詞"
_WITH_KANA = re.compile("[\u3400-\u9fff]{2,}[\u3041-\u3096]")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{3,}")
_ONE_WORD = {"メモリー": "メモリ", "ウインナー": "ウインナ", "斉藤": "斎藤", "なくす": "無くす", "なくなる": "無くなる"}
"""the only words that the dictionary has as two, with and without a long vowel at the end; a name that is often taken
for another: pairs of characters still tell 斉藤 from 斎藤; and what is lost, which is seldom written in kanji
"""
_POTENTIAL = {"取れる": "取る", "とれる": "取る", "休める": "休む", "つかえる": "使う"}
"""what one can do: the dictionary has these as verbs of their own, but 使える as 使う"""
_WITH_ENDINGS = _VERB, "形容詞"
_NOUN_ENDINGS = str.maketrans("うくぐすつぬぶむる", "いきぎしちにびみり")


class Sudachi:
    """Loaded at first use, in 0.1 s: its 200 MB are mapped, not read. Threads take turns, one piece of text each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: dict[int, Kind] = {}
        self._without_kana: dict[str, str] = {}
        self._conjugations: dict[str, str] = {}

    def morphemes(self, text: str) -> list[Morpheme]:
        """The morphemes of folded text; offsets in characters."""
        found: list[Morpheme] = []
        for start, piece in _pieces(text):
            with self._lock:
                found += [self._morpheme(each, start) for each in self._units(piece)]
        return found

    def _units(self, piece: str) -> Iterator[Any]:
        """The shortest units, but verbs whole: 申し込む is not 申す and 込む."""
        for each in self._tokenizer.tokenize(piece):
            if each.part_of_speech()[0] == _VERB:
                yield each
            else:
                yield from each.split(self._shortest) or (each,)

    def _morpheme(self, unit: Any, offset: int) -> Morpheme:
        kind = self._kind(unit)
        normal = self._normal(unit) if kind is Kind.CONTENT else ""
        noun = _noun(unit, self._shortened(normal), self._conjugation(unit, normal)) if normal else ""
        has_endings = unit.part_of_speech()[0] in _WITH_ENDINGS
        lemma = unit.dictionary_form() if has_endings else ""
        is_fixed = not has_endings and not unit.is_oov()
        return Morpheme(offset + unit.begin(), offset + unit.end(), normal, noun, lemma, kind, is_fixed)

    def _normal(self, unit: Any) -> str:
        """Its normalised form. Katakana that the dictionary lacks is its word with a long vowel at the end (カレンダ is
        カレンダー), or if it lacks this too, has none there (スケジューラー is スケジューラ).
        """
        normal: str = unit.normalized_form()
        normal = _ONE_WORD.get(normal, _POTENTIAL.get(normal, normal))
        short = normal.removesuffix("ー")
        if not unit.is_oov() or not _KATAKANA.fullmatch(short):
            return normal
        units = list(self._units(f"{short}ー"))
        return units[0].normalized_form() if len(units) == 1 and not units[0].is_oov() else short

    def _shortened(self, normal: str) -> str:
        """A noun without its last kana, if the dictionary has it so too, with the same reading: 手当 of 手当て, but not
        骨折 of 骨折り.
        """
        if not _WITH_KANA.fullmatch(normal):
            return normal
        if normal not in self._without_kana:
            short, long = (list(self._units(word)) for word in (normal[:-1], normal))
            is_one = all(len(units) == 1 and units[0].part_of_speech()[:2] == _NOUN for units in (short, long))
            is_same = is_one and short[0].reading_form() == long[0].reading_form()
            self._without_kana[normal] = short[0].normalized_form() if is_same else normal
        return self._without_kana[normal]

    def _conjugation(self, unit: Any, normal: str) -> str:
        """Of its normalised form: 採れる is of 取る, whose noun is 取り, but 見れる, said for 見られる, of 見る: 見."""
        own: str = unit.part_of_speech()[4]
        if not unit.dictionary_form().endswith("れる") or normal.endswith("れる"):
            return own
        if normal not in self._conjugations:
            units = list(self._units(normal))
            self._conjugations[normal] = units[0].part_of_speech()[4] if len(units) == 1 else ""
        return self._conjugations[normal]

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
        return dictionary.tokenizer(mode="C", fields=_FIELDS)

    @cached_property
    def _shortest(self) -> Any:
        from sudachipy import SplitMode

        return SplitMode.A


def _noun(unit: Any, normal: str, conjugation: str) -> str:
    """A text names what a question asks about: 申込 or 立替 is the noun of 申し込む or 立て替える."""
    if unit.part_of_speech()[0] != _VERB or "変格" in conjugation:  # する, 来る
        return normal
    if "一段" in conjugation and normal.endswith("る"):
        return normal[:-1]
    return normal[:-1] + normal[-1].translate(_NOUN_ENDINGS)


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

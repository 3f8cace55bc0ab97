"""The no-answer token: a service model writes it if the passages have no answer. It is never shown."""

import re
from collections.abc import Mapping

from rag.text.language import Language, language_of

TOKEN = "NOT_IN_PASSAGES"  # noqa: S105 - not a password
"""as in the prompts (en.py, ja.py)"""

_AROUND = r"[\s*_`#\"'“”‘’「」『』【】\[\](){}<>:：。.、,;；!！—–-]"
_WRITTEN = re.compile(r"NOT[_ -]IN[_ -]PASSAGES|(?i:not\\?_in\\?_passages)")
"""also with the backslashes of Markdown"""
_LONGEST_WRITTEN = len(TOKEN) + TOKEN.count("_")
_BEFORE = re.compile(rf"{_AROUND}*")
_LONGEST_BEFORE = 8
"""characters with which models decorate the token; more are text"""
_PAIRED = re.compile("[*_`\"']")
"""signs that open and close alike: behind the token they belong to it only if they are also before it"""
_BEHIND = " \t\r\n　:：。.、,;；!！—–-”’」』】])}>"
"""characters behind the token that are part of it; an opening sign belongs to the sentence that follows"""

_IN_SENTENCE = re.compile(r"[^\s。.!！?？\]】］*_`#>~-][ \t　*_`\"'“‘「『(（]*\Z")
"""the end of a text that goes on with the token as with a word, such as 海外は; not that of a sentence or a line"""
_READ_BACK = 200
"""characters before the token that tell where it stands, and in which language"""
_SAID_IN_JAPANESE = re.compile(
    r"(?:(?:申し訳(?:ありません|ございません)|恐れ入ります|すみません|残念)(?:です)?が、?)?"
    r"(?![^。]*(?:おり[^ま]|とあり|すが))"
    r"(?:[^。、，,.!！?？\n\dは]{1,40}(?:は|について|に関して)、?)?"
    r"(?:(?:ご?(?:提示|提供)(?:された|いただいた|の)|与えられた|こちらの|この|参照)?資料)(?:の中|内)?(?:に|から|で)(?:は|も)?、?"
    r"(?:[^。、，,.!！?？\n\d]{1,40}(?:(?<!と)[はがも]|(?<!と)の|に関する|に関して|について))?"
    r"(?:(?:記載|記述|言及|情報|説明|回答|答え)[がはも]?(?:され|含まれ)?て?"
    r"|書かれて|見つか|見つけられ|見当た|確認でき|分か|わか)"
    r"(?:あり|ござい|おり|い|り)?(?:ません(?:でした)?|ない|なかった)[。.]?"
)
_SAID_IN_ENGLISH = re.compile(
    r"(?:(?:I(?:'|’| a)m sorry|sorry|unfortunately),? (?:but )?)?"
    r"(?:the (?:provided |given |available )?(?:documents|passages|sources) (?:do not|don't|don’t) "
    r"(?:(?:say|mention|state|specify)|(?:contain|provide|include|give) (?:the answer|an answer|(?:any )?information))"
    r"(?: (?!.*\b(?:but|only|except)\b)[^.,;:!?\n\d]{1,80})?"
    r"|(?:this|that|it|the answer) is not (?:stated|mentioned|given|specified) in the (?:documents|passages|sources))"
    r"\.?",
    re.IGNORECASE,
)
_LONGEST_SAID = 160
"""characters"""
_IN_ITS_PLACE: Mapping[Language, str] = {"ja": "資料に記載なし", "en": "not in the sources"}


def says_only_that(answer: str) -> bool:
    """Whether a whole answer is one sentence that says it in other words: some models leave out the token."""
    said = answer.strip()
    return len(said) <= _LONGEST_SAID and bool(_SAID_IN_JAPANESE.fullmatch(said) or _SAID_IN_ENGLISH.fullmatch(said))


class NoAnswerFilter:
    """Takes an answer in pieces, and returns it without the token; within a sentence, with words in its place."""

    def __init__(self) -> None:
        self.stands_first = False
        """the answer began with the token"""
        self.was_written = False
        self._begun = False
        self._just_removed = False
        self._behind = _BEHIND
        self._held = ""
        self._last = ""
        """the end of what was returned"""

    def feed(self, piece: str) -> str:
        text, shown = self._held + piece, ""
        while found := _WRITTEN.search(text):
            before = text[: found.start()]
            self._behind = _BEHIND + "".join(_PAIRED.findall(before[-_LONGEST_BEFORE:]))
            if not self._begun and len(before) <= _LONGEST_BEFORE and _BEFORE.fullmatch(before):
                self.stands_first, before = True, ""
            shown += self._pass_on(before)
            self.was_written = self._just_removed = True
            text = text[found.end() :]
            if self._begun and _IN_SENTENCE.search(self._last):
                self._just_removed = False
                shown += self._pass_on(_IN_ITS_PLACE[language_of(self._last)])
        end = len(text) - self._length_to_hold(text)
        self._held = text[end:]
        return shown + self._pass_on(text[:end])

    def end(self) -> str:
        text, self._held = self._held, ""
        return self._pass_on(text)

    def _pass_on(self, text: str) -> str:
        if self._just_removed:
            text = text.lstrip(self._behind)
        if text:
            self._begun, self._just_removed = True, False
            self._last = (self._last + text)[-_READ_BACK:]
        return text

    def _length_to_hold(self, text: str) -> int:
        """The length of its end that may be the beginning of the token."""
        partial = next((n for n in range(min(_LONGEST_WRITTEN - 1, len(text)), 0, -1) if _begins_token(text[-n:])), 0)
        before = text[: len(text) - partial]
        if not self._begun and len(before) <= _LONGEST_BEFORE and _BEFORE.fullmatch(before):
            return len(text)
        return partial


def _begins_token(text: str) -> bool:
    written = re.sub("[ -]", "_", text.replace("\\", "").upper())
    return not text.startswith("\\") and len(written) < len(TOKEN) and TOKEN.startswith(written)

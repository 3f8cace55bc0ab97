"""Rules for whether a question is clearly complete, or may depend on the conversation.

With rules, most questions need no call. In doubt, they let the model decide: a dependent question that is searched as
it is finds nothing, an unnecessary call costs only a second.
"""

import re
import tomllib
import unicodedata
from pathlib import Path
from typing import NamedTuple, get_args

from rag.text.language import Language, language_of
from rag.text.question.small_talk import is_small_talk

LEAST_SPECIFIC = 2
"""words with a specific meaning; a single one, such as "deadline", mostly refers to something mentioned before"""


_WORDS = tomllib.loads((Path(__file__).parent / "generic_words.toml").read_text(encoding="utf-8"))
_GENERIC: dict[Language, frozenset[str]] = {
    language: frozenset(_WORDS[language].split()) for language in get_args(Language)
}


def stands_alone(question: str) -> bool:
    read = _read(question)
    return read.is_talk or (not read.refers_back and len(read.specific) >= LEAST_SPECIFIC)


def still_leans(rewritten: str, question: str) -> bool:
    """Whether a rewritten follow-up depends on the conversation as much as the follow-up itself. One specific word is
    enough here: the model has read both.
    """
    read = _read(rewritten)
    gained = read.specific - _read(question).specific
    return not read.is_talk and not gained and (read.refers_back or not read.specific)


class _Question(NamedTuple):
    is_talk: bool
    refers_back: bool
    specific: frozenset[str]


def _read(question: str) -> _Question:
    text = " ".join(unicodedata.normalize("NFKC", question).split())
    if language_of(text) == "ja":
        leans, specific = _JAPANESE_LEANS, set(_RUN.findall(text)) - _GENERIC["ja"]
    else:
        text = _NOT_POINTING.sub(" ", text)
        leans, specific = _ENGLISH_LEANS, _english_words(text) - _GENERIC["en"]
    # Small talk is not about anything, so it does not depend on anything.
    is_talk = is_small_talk(question) and not text.startswith(_TALK_OR_FOLLOW_UP)
    return _Question(is_talk, leans.search(text) is not None, frozenset(specific))


def _english_words(text: str) -> set[str]:
    return set(_ENGLISH_WORD.findall(_CONTRACTED.sub("", _NUMBERED.sub(" ", text).lower())))


_TALK_OR_FOLLOW_UP = "何ができますか"
"""asks what the app can do, or what can be done with what was said before"""

_END = r"[\s。.?？!！…]*$"

_JAPANESE_LEANS = re.compile(
    "|".join(
        (
            # words that refer back: それ, その, そちら, but not それぞれ, その他, それとも
            r"[そこあ]れ(?!ぞれ|から先|とも|まで)",
            r"(?<![ぁ-ん])[そこあ]の(?![うろさま辺周])(?!他|ほか)",
            r"[そこあ]ちら|[そこあ](?:っち|ん[なにでじ])|[そこあ]ういう|[そこあ]のよう",
            r"(?<![ぁ-んァ-ヶ一-龠])[そこあ](?:こ|う)(?:$|[はがでにのもをとすならい])",
            r"前者|後者|上記|上の(?:条件|場合|規程|例)|前述|先(?:ほど|程)|さっき|直前|同じ|同様|当該",
            r"(?:今|先|前回?|あなた|今まで|これまで|ここまで)の(?:話|お?答|ご?回答|説明|件|質問|内容)",
            r"(?:^|[、。\s])該当(?:する)?(?:箇所|部分|条文|条項|規程|ページ)|^原文",
            r"彼女?(?:ら|は|が|の|に|を)|両方|どちらも|[1-9一二三四五](?:つ|番|点)目|残り",
            # words that continue the conversation
            r"^(?:じゃあ?|では|それで|で[、,]|なら|すると|また|あと|ちなみに|逆に|しかし|でも|ただ|ところで|そして"
            r"|なぜ|どうして|いつ|どこ|だれ|誰|いくら|どのくらい|どれくらい|何|もっと|もう少し|続き|つまり|ほか|他|別)",
            r"ほかに(?:は|も)|他に(?:は|も)|以外(?:は|に|の)|(?:の|な)場合(?:は|も|だと|なら)?" + _END,
            # corrections, and answers to a question of the app: いいえ、国内出張の宿泊費です
            r"^(?:(?:はい|いいえ|いえ|いや)[、。，,\s]|違い?ます|違う|そう(?:では|じゃ)な|訂正|間違え)",
            r"^(?:すみません|ごめん).{0,60}(?:です|でした)" + _END,
            r"(?:のこと|の話|の件|のほう|の方)(?:です|でした)" + _END,
            r"^[^はがを]*(?:では|じゃ)なくて?[^はがを]*" + _END,
            # another subject of what was said: 契約社員も対象ですか, but not してもよいですか
            r"^[^はがを]*(?<!て)も(?![しらのうっちと])[一-龠]{0,4}[ぁ-ん]{0,10}" + _END,
            r"^[^はがを]*(?:なら|だと|だったら)(?:いくら|どう|いつ|何|誰)[ぁ-ん]{0,10}" + _END,
            # something by its number or place, as in a list that was shown: 第5条を説明して
            r"^第?[0-9一二三四五六七八九十]+(?:条|項|号|章|節|番|行目|列目|枚目|ページ)(?:目)?(?![0-9一-龠])",
            r"^(?:ステップ|手順|表|図|項目|条件|プラン|案)の?[0-9]|^(?:表|図|一覧|リスト)[のでは]|^[A-Z](?:案|プラン)?[のはをにと]",
            r"^(?:最初|最後|一番[上下])の(?:項目|条件|点|行|方法|例|案|手順)",
            # how the answer should be written
            r"^(?:(?:日本語|英語|中国語)[でに](?!は)|要約|要点|箇条書き|具体例|根拠|出典|[0-9一二三数]+(?:行|文|点|つ)[でに])",
            r"^[^はがを]*(?:換え|直し|訳し|まとめ|要約し|[文形式]にし)て(?:ください|下さい|くれますか|もらえますか)?"
            + _END,
            # only a topic: 有給休暇は?
            r"(?:は|なら|だと)(?:どう|いかが)(?:です|でしょう)?か?" + _END,
            r"(?:は|も|なら|だと|たら|だら|すると|もう少し|って|とか|でも|については|に関しては|の(?:方|ほう)は|の件)"
            + _END,
        )
    )
)

_RUN = re.compile(
    # The parts of a verb are one word: 繰り越せますか, 立て替え.
    r"[一-龠々〆]+(?:[いきぎしちびみりえけげせてべめれ][一-龠々〆]+)*"
    r"|[ァ-ヶー]{2,}|[A-Za-z0-9][A-Za-z0-9.'’′/-]*|[ァ-ヶ一-龠々A-Za-z0-9ー]+"
)


_QUESTION_VERBS = ("do", "does", "did", "will", "would", "can", "could", "may", "might", "must", "shall", "should")
_AFTER_NOUN = "(?<=[a-z] )" + "".join(rf"(?<!\b{verb} )" for verb in _QUESTION_VERBS)
"""In "a rule that works", "that" does not refer back; in "Does that work?", it does."""

_PART = "(?:step|article|section|point|item|option|paragraph|clause|chapter|row|line|plan|condition|part|reason)"
_NUMBERED = re.compile(rf"\b{_PART} (?:\d+|[a-e])\b", re.IGNORECASE)
"""a part that says nothing without its document or list"""

_CONTRACTED = re.compile(r"\b(?:ca|wo|sha)n['’′]t\b|n['’′]t\b|['’′](?:s|re|ll|ve|d|m)\b")
"""What's, isn't and I'm say no more than what is, is not and I am."""

_NOT_POINTING = re.compile(
    r"\b(?:is|are|was|were|will) there\b|\bthere (?:is|are|was|were|will)\b|\bthis (?:year|month|week|quarter)\b"
    r"|(?-i:\bIT\b(?= (?!is\b|was\b)))|\bhow long does it take to\b"
    r"|\bis it (?:possible|necessary|allowed|required) to\b"
    rf"|{_AFTER_NOUN}that (?=(?:is|are|has|have|can|must|may|need|needs|work|works|connects?)\b)",
    re.IGNORECASE,
)
"""words that only look as if they refer back"""

_ENGLISH_LEANS = re.compile(
    r"\b(?:it|its|it's|that|this|these|those|they|them|their|theirs|he|him|his|she|her|hers|there|then|thereof|such"
    r"|same|former|latter|above|previous|previously|earlier|ones?|another|others?|else|instead|both|either|neither"
    r"|aforementioned|respectively)\b"
    r"|\b(?:do|does|doing) so\b|\byou (?:just )?(?:said|mentioned|wrote|told me|answered)\b"
    r"|\b(?:your|according to the) (?:[a-z]+ )?(?:answer|reply)\b"
    r"|^(?:and|but|or|so|then|also|plus|what about|how about|what if|why not|because|otherwise|ok(?:ay)?|thanks?"
    r"|more|go on|continue|yes|no|not|wrong|correct|sorry|actually|i mean|i meant|likewise|similarly|only|unless"
    r"|regardless|including|excluding|except|besides|apart from|assuming|suppose|(?:let['’′]?s )?say|repeat|try again"
    r"|i asked|i was asking|my question was)\b"
    r"|^[a-z]+(?: it)?[,.!]+ (?:and|but|so|then|what about|how about)\b"  # Great, and …
    r"|\bdifferent (?:for|in|if|when)\b"
    r"|^[^\s?]+ or [^\s?]+\?$"  # Gross or net?
    r"|^(?:even|with|without|for|in|on|at|after|during|before|via|through|within|outside|as|under|over|up to|per)"
    r" (?:[^\s?]+ ){0,3}[^\s?]+\?$"
    rf"|\bthe (?:first|second|third|fourth|last) {_PART}s?\b"
    r"|^(?:please |(?:can|could|would) you )?(?:(?:rephrase|reword|translate|shorten)\b"
    r"|(?:answer|reply|respond|summari[sz]e|write|explain) (?:in|as|for|to)\b)"
    r"|^(?:is|are) (?:[^\s?]+ ){1,3}(?:included|covered|counted|eligible|affected|accepted|acceptable|enough"
    r"|ok(?:ay)?)" + _END + "|"
    r"\b(?:too|as well|though|more|so)" + _END,
    re.IGNORECASE,
)

_ENGLISH_WORD = re.compile(r"[^\W_]+(?:['’′.-][^\W_]+)*['’′]?")

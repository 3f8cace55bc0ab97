"""Rules that recognise questions about things that change daily: a small model recognises too many."""

import re
import unicodedata

_TODAY = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|currently|current(?=\s+(?:weather|news|stock|share|exchange|bitcoin))|latest"
    r"|this (?:week|weekend|morning|evening))\b"
    r"|今日|本日|明日|あした|昨日|今夜|今朝|今週|週末|現在|今の|いまの|最新|最近"
)
_WORLD = re.compile(
    r"\b(?:weather(?!\s*(?:seal|proof|resist))|forecast|temperature(?= (?:in|outside|today|tomorrow))|news|headlines?"
    r"|stock price|share price|exchange rate|bitcoin|election|score of)\b"
    r"|天気|気温|予報|ニュース(?!レター|リリース)|株価|為替|円相場|ドル円|日経平均"
    r"|(?:地震|台風)(?!の(?:とき|時|際|場合|日)|で|が)|選挙"
    r"|試合(?!\w*モード)|降水(?:量|確率)|花粉"
)
_ALWAYS_TODAY = re.compile(
    r"\bweather (?:in|for|at)\b|\bexchange rate (?:of|for|between|from|to)\b"
    r"|の天気|天気予報は|日経平均|円相場|為替レート"
)
"""questions about today that do not say so"""
_OURS = re.compile(
    r"\b(?:our|company|office|policy|policies|rules?|handbook|manual|procedure|form|per diem|travel|expenses?|claims?"
    r"|allowance|hotel)\b"
    r"|当社|弊社|社内|規程|規則|規定|手順|手続|マニュアル|申請|社員|従業員|持株|休暇|出社|勤務|精算|日当|出張|旅費|会議|校正"
)
"""about the company: such a question is for the documents, whatever else it mentions"""


def is_about_the_company(question: str) -> bool:
    return bool(_OURS.search(_plain(question)))


def asks_about_current_events(question: str) -> bool:
    """True for weather, news and prices outside the company; not for subjects of the company's documents."""
    text = _plain(question)
    if _OURS.search(text) or not _WORLD.search(text):
        return False
    return bool(_TODAY.search(text) or _ALWAYS_TODAY.search(text))


def _plain(question: str) -> str:
    return unicodedata.normalize("NFKC", question).casefold()

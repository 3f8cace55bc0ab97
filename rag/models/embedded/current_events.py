"""Rules that recognise questions about things that change daily: a small model recognises too many."""

import re
import unicodedata

_TODAY = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|currently|current|latest|this (?:week|weekend|morning|evening))\b"
    r"|今日|本日|明日|あした|昨日|今夜|今朝|今週|週末|現在|今の|いまの|最新|最近"
)
_WORLD = re.compile(
    r"\b(?:weather|forecast|temperature|news|headlines?|stock price|share price|exchange rate|dollar|yen|bitcoin"
    r"|election|score of|match)\b"
    r"|天気|気温|予報|ニュース|株価|為替|円相場|ドル円|日経平均|地震|台風|選挙|試合|降水|花粉"
)
_ALWAYS_TODAY = re.compile(r"\bweather (?:in|for|at)\b|\bexchange rate\b|の天気|天気予報は|日経平均|円相場|為替レート")
"""questions about today that do not say so"""
_OURS = re.compile(
    r"\b(?:our|company|office|policy|policies|rules?|handbook|manual|procedure|form)\b"
    r"|当社|弊社|社内|規程|規則|規定|手順|手続|マニュアル|申請|社員|休暇|出社|勤務"
)
"""about the company: such a question is for the documents, whatever else it mentions"""


def asks_about_current_events(question: str) -> bool:
    """True for weather, news and prices outside the company; not for subjects of the company's documents."""
    text = unicodedata.normalize("NFKC", question).casefold()
    if _OURS.search(text) or not _WORLD.search(text):
        return False
    return bool(_TODAY.search(text) or _ALWAYS_TODAY.search(text))

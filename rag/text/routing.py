"""Which way a question takes: small talk, the documents, or the web; by rules, and what of a model's answer counts."""

import re
import unicodedata
from typing import Literal, NamedTuple

from rag.models.service.structured import json_objects, schema

Route = Literal["talk", "documents", "web"]


class Routed(NamedTuple):
    route: Route
    why: str
    """a key that readers of the trace have words for"""
    reason: str = ""
    scores: dict[str, float] = {}  # noqa: RUF012 - never changed


IN_DOUBT = Routed("documents", "in_doubt")

ROUTE_SCHEMA = schema(
    "route",
    {
        "reason": {"type": "string", "description": "one short sentence"},
        "route": {"type": "string", "enum": ["talk", "documents", "web"]},
    },
)

LONGEST_TALK = 60
"""characters; nobody greets at greater length, and a pattern that repeats is not to be tried on an essay"""

_TALK = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|how are you(?: today| doing)?|there|everyone|all"
    r"|thanks(?: a lot| for your help)?|thank you(?: very much| so much| for your help)?|cheers|bye|goodbye|see you"
    r"|who are you|what can you do|nice to meet you|okay|ok|great|got it"
    r"|こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|はじめまして|初めまして|皆さん|みなさん"
    r"|お(?:疲|つか)れ(?:様|さま)(?:です|でした)?|どうも|ありがとう(?:ございます|ございました)?|助かりました"
    r"|さようなら|またね|お?元気ですか|調子はどうですか|あなたは(?:誰|だれ|何者)ですか|何ができますか"
    r"|よろしく(?:お願い(?:し|いたし)ます)?|了解(?:です|しました)?|わかりました|やあ|もしもし) ?)+"
)
"""nothing but greetings, thanks and what else is said by way of it"""

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
"""what is asked of today though it does not say so"""
_OURS = re.compile(
    r"\b(?:our|company|office|policy|policies|rules?|handbook|manual|procedure|form)\b"
    r"|当社|弊社|社内|規程|規則|規定|手順|手続|マニュアル|申請|社員|休暇|出社|勤務"
)
"""of the house: such a question is one to the documents, whatever else it names"""


def is_small_talk(question: str) -> bool:
    """Whether it is nothing but greetings, thanks and the like."""
    text = " ".join(re.findall(r"[^\W_']+", _folded(question)))
    return len(text) <= LONGEST_TALK and _TALK.fullmatch(text) is not None


def asks_of_today(question: str) -> bool:
    """Whether it asks for what changes by the day in the world outside: the weather, the news, prices."""
    text = _folded(question)
    if _OURS.search(text) or not _WORLD.search(text):
        return False
    return bool(_TODAY.search(text) or _ALWAYS_TODAY.search(text))


def read_route(text: str) -> Routed | None:
    """What a model wrote, as a route; None where none can be read from it."""
    for said in json_objects(text):
        match str(said.get("route", "")).strip().strip(".。").lower():
            case "talk" | "documents" | "web" as route:
                return Routed(route, "model", " ".join(str(said.get("reason") or "").split()))
    word = re.match(r"\W*(talk|documents|web)\W*$", text, re.IGNORECASE)
    return Routed(word[1].lower(), "model") if word else None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

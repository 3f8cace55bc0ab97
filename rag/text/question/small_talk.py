"""Rules for whether a message is clearly small talk: only greetings, thanks and the like."""

import re
import unicodedata

LONGEST_TALK = 60
"""characters; greetings are not longer, and a repeating pattern should not run on a long text"""

_TALK = re.compile(
    r"(?!(?:(?:there|everyone|all|皆さん|みなさん) ?)+$)"
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|how are you(?: today| doing)?|there|everyone|all"
    r"|thanks(?: a lot)?(?: (?:very|so) much)?(?: for your help)?|thank you(?: (?:very|so) much)?(?: for your help)?"
    r"|cheers|bye|goodbye|see you|who are you|what can you do|nice to meet you|okay|ok|great|perfect|got it|understood"
    r"|こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|はじめまして|初めまして|皆さん|みなさん"
    r"|お(?:疲|つか)れ(?:様|さま)(?:です|でした)?|どうも|ありがとう(?:ございます|ございました)?|助かり(?:ます|ました)"
    r"|さようなら|またね|お?元気ですか|調子はどうですか|あなたは(?:誰|だれ|何者)ですか|何ができますか"
    r"|よろしく(?:お願い(?:し|いたし)ます)?|了解(?:です|(?:いた)?しました)?|承知(?:いた)?しました"
    r"|かしこまりました|[わ分]かりました|なるほど(?:です)?ね?|okです|やあ|もしもし) ?)+"
)
"""only greetings, thanks and similar phrases; who is greeted, named alone, is a question"""


def is_small_talk(message: str) -> bool:
    text = " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", message).casefold()))
    return len(text) <= LONGEST_TALK and _TALK.fullmatch(text) is not None

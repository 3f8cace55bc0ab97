"""Rules for whether a message is clearly small talk: only greetings, thanks and the like."""

import re
import unicodedata

LONGEST_TALK = 60
"""characters; greetings are not longer, and a repeating pattern should not run on a long text"""

_FOR_WHAT = (
    r"(?: for (?:your|the)(?: (?:quick|prompt|detailed|clear|kind))? "
    r"(?:help|answer|reply|response|info|information|explanation))?"
)
_THANKED_FOR = (
    r"(?:(?:早速|迅速|ご?丁寧|詳しい|[わ分]かりやすい)[なのに]? ?)?"
    r"(?:(?:[ごお]?(?:回答|返信|返答|返事|説明|教示|対応|案内)を?|教えて)"
    r"(?:(?:いただき|頂き|くださり|下さり)(?:まして)?|くれて)? ?)?"
)

_TALK = re.compile(
    r"(?!(?:(?:there|everyone|all|皆さん|みなさん) ?)+$)"
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|how are you(?: today| doing)?|there|everyone|all"
    rf"|(?:many )?thanks(?: a (?:lot|million)| again| in advance)?(?: (?:very|so) much)?{_FOR_WHAT}|thx"
    rf"|much appreciated|thank you(?: again)?(?: (?:very|so) much)?{_FOR_WHAT}|(?:that|this) helps(?: a lot)?"
    r"|(?:that (?:s|was) )?(?:very|really|super|so) helpful|that (?:s|was) helpful"
    r"|i see|cheers|bye|goodbye|see you|who are you|what can you do|nice to meet you|okay|ok|great|perfect|got it"
    r"|understood|cool|awesome|excellent|alright|sounds good|(?:that |it )?makes sense|noted(?: with thanks)?"
    r"|no problem|good to know|no (?=thank)|that (?:s|is) all (?:for (?:now|today)|(?=thank))|never ?mind"
    r"|(?:i )?appreciate it|have a (?:nice|good|great) (?:day|evening|weekend|one)"
    r"|こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|はじめまして|初めまして|皆さん|みなさん"
    r"|お(?:疲|つか)れ(?:様|さま)(?:です|でした)?|どうも"
    rf"|{_THANKED_FOR}(?:どうも|本当に|誠に)?ありがとう?(?:ございます|ございました|ね)?"
    r"|(?:とても|大変|本当に)?助かり(?:ます|ました)"
    r"|さようなら|またね|お?元気ですか|調子はどうですか|あなたは(?:誰|だれ|何者)ですか|何ができますか"
    r"|よろしく(?:お願い(?:し|いたし)ます)?|了解(?:です|(?:いた)?しました)?|承知(?:いた)?しました"
    r"|かしこまりました|(?:よく)?[わ分]か(?:りました|った)|なるほど(?:です)?ね?|okです|やあ|もしもし) ?)+"
)
"""only greetings, thanks and similar phrases; who is greeted, named alone, is a question"""


def is_small_talk(message: str) -> bool:
    text = " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", message).casefold()))
    return len(text) <= LONGEST_TALK and _TALK.fullmatch(text) is not None

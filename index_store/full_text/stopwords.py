"""Stopwords: words that any question may have, or that only ask.

They say nothing about the subject, and they are rare in documents. BM25 would give them the most weight: for
「Xについて教えてください」 it would find texts about teaching. Japanese words are written as Sudachi normalises them.
English words with an apostrophe are compared as they are written, because without it, I'll and I'd are ill and id.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMON = _words("""
    a about am an and any are as at be been being but by can could did do does for from had has have how i if in
    into is it its many me more most much my of on or our over should so some such than that the their them then
    there these they this those to was we were what when where which while who whom whose why will with would you
    your
    he she him his her cannot cant dont doesnt didnt isnt arent couldnt wouldnt shouldnt havent hasnt whos whats
    i'm i've i'd i'll you're you've we're we've we'd we'll they're they've don't doesn't didn't isn't aren't wasn't
    weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't mr mrs ms
    何 誰 何処 何時 何れ 何方 どう どの どんな 何故 如何 幾つ 幾ら この その あの 其れ 此れ どこ いつ だれ なぜ
    どれ どちら どういう どのような つく 為る 有る 居る 成る 出来る 言う 事 こと 物 御
    どなた よう おる 御座る 致す 遣る おく 仕舞う 呉れる さん 様
    若し 又 未だ もう そう 一寸 因み 例えば そして じゃ じゃあ えーと えっと 取り敢えず 結局 一応 矢張り 抑
""")
"""stopwords in any place; さん as it is written: サン is a name"""

OPENING = _words("""
    hello hi please tell explain describe define show know like want anyone anybody someone somebody
    すむ 恐れ入る お疲れ様
""")
CLOSING = _words("""
    please pls mean thank thanks 教える 説明 解説 下さる 頂く 願う 知る 分かる つく 関する 詳しい 意味 欲しい 貰う 良い
    宜しい 構う いけ 大丈夫 駄目 伺う 聞く 存知 教示 思う 助かる 幸い 易い 簡単 簡潔 纏め
""")
"""stopwords only at the end of a question: someone may search for a manual (説明書); いけ of いけませんか"""

FORMAL = _words("時 場合 為 所 際 方 訳 筈 内 間 前 後 中")
"""nouns that only join, as in 休むとき; they are searched, but an index without them lacks nothing"""

_IN_JAPANESE = r"""
    (?:(?:(?:いつも|平素(?:は|より)?|毎度)、?)?(?:大変)?お世話(?:になって(?:い|おり)ます|になります|(?:様|さま)です)
     |お疲れ(?:様|さま)です)
     (?:[。、!\s]+[^。、!?\nはがを]{0,20}(?:部|課|室|係|店|社|所|グループ|チーム|センター)
      の(?!件)[^。、!?\nのはがを]{1,8}(?:です|と申します)(?=[。!\n]))?
    |(?:^|(?<=[。!]))[^。、!?\nはがを]{1,24}と申します(?=[。!\n])
    |こんにちは(?=[。、!\s])|こんばんは(?=[。、!\s])|おはようございます|(?:初|はじ)めまして
    |(?:どうも|誠に)?(?:有り?難う|ありがとう)(?:ござい(?:ます|ました))?(?=[。、!\s]|$)
    |お忙しい(?:ところ|所|中)を?、?(?:大変)?(?:恐れ入りますが|恐縮ですが|申し訳(?:ありません|ございません)が)?
    |お手数(?:です|ではございます|を?(?:おかけ|お掛け)(?:し|いたし|致し)ます)が
    |質問(?:です|があります|ですが|な[のん]です(?:が|けれ?ども?)|させてください)
    |(?:^|(?<=[。!、\s]))ご?相談(?:です(?=[。!、\n])|があります|(?:な[のん])?です(?:が|けれ?ども?)|させてください)
    |(?:ちょっと)?お?(?:聞き|伺い)し?たい[のん]です(?:が|けれ?ども?)
    |(?:以上、?)?(?:ご(?:教示|教授|回答|返信|確認|対応|検討)の(?:ほど|程)、?)?(?:どうぞ|何卒)?
     (?:よろしく|宜しく)お?願い(?:申し上げ|いたし|致し|し)ます
"""
_THANKS = r"(?:many\ )?thank(?:s|\ you)(?:\ (?:so|very)\ much)?(?:\ in\ advance)?|(?:best|kind|warm)\ regards"
_IN_ENGLISH = rf"""
    ^(?:{_THANKS})[,.!]?\n\s*\w+(?:\ \w+)?\s*\Z
    |(?:^|(?<=[.!?,]\s))(?:(?:hi|hello|hey|dear)\ (?:all|team|everyone|everybody|there|colleagues)
     |good\ (?:morning|afternoon|evening)|(?:(?:just\ )?a\ )?quick\ question|{_THANKS})(?=[.,!:]|\s*$)
    |\bi\ was\ (?:just\ )?wondering\b
    |\b(?:(?:please|kindly)\ )?let\ (?:me|us)\ know\b
"""
POLITE = re.compile(rf"(?<![「『\"'])(?:(?:{_IN_JAPANESE})(?![のをは」』])|{_IN_ENGLISH})", re.VERBOSE | re.MULTILINE)
"""what stands around a question in a mail, as it is folded: お世話になっております, Best regards. The 世話 of
家族の世話 is sought."""

"""Normalises text for search: NFKC, casefold, new forms of old kanji, kanji for radicals, kanji numbers in digits.

The position of each character is kept.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from index_store.base.text.radicals import KANJI_OF_RADICALS

_OLD_AND_NEW = (
    # 常用漢字表 (2010) gives the old form next to the new one; names have a few more (髙﨑邉濵).
    # The last two lines have what input methods write in another form than the list (填 for 塡), and more of names.
    # Left out: kanji whose new form replaced several old ones (弁 for 瓣, 辨 and 辯; 欠 for 缺).
    "乘乗亂乱亞亜佛仏來来倂併假仮傳伝僞偽價価儉倹兒児內内兩両冨富剩剰劍剣劑剤勞労勳勲勵励勸勧區区卷巻卽即參参吳呉啞唖單単噓嘘嚙噛嚴厳囑嘱圈圏國国圍囲圓円圖図團団堯尭塲場增増墮堕壄野壓圧壘塁壞壊壤壌壯壮壹壱壽寿奧奥奬奨孃嬢"
    "學学寢寝實実寫写寬寛寶宝將将專専對対屆届屬属峯峰峽峡嵜崎嶋島嶌島嶽岳巖巌巢巣帶帯廢廃廣広廳庁彈弾彌弥彥彦徑径從従徵徴德徳恆恒悅悦惠恵惡悪惱悩愼慎慘惨應応懷懐戀恋戰戦戲戯戶戸戾戻拂払拔抜拜拝挾挟插挿揭掲搔掻搖揺搜捜摑掴"
    "擇択擊撃擔担據拠擧挙擴拡攝摂收収效効敍叙敎教敕勅敘叙數数斷断旣既晉晋晚晩晝昼曆暦曉暁曾曽會会查査栁柳桒桑條条棧桟榮栄槗橋槪概樂楽樓楼樞枢樣様橫横檢検櫻桜權権歐欧歡歓步歩歲歳歷歴歸帰殘残殼殻毆殴每毎氣気污汚沒没涉渉淚涙"
    "淨浄淸清淺浅渕淵渴渇溪渓溫温溼湿滯滞滿満潛潜澁渋澤沢濕湿濟済濱浜濵浜瀧滝瀨瀬灣湾焰焔燈灯燒焼營営爐炉爭争爲為犧犠狀状狹狭獨独獵猟獸獣獻献甁瓶產産畫画當当疊畳瘦痩癡痴發発盜盗盡尽眞真硏研碎砕祕秘祿禄禪禅禮礼禱祷稅税稱称"
    "稻稲穗穂穩穏竊窃竝並粹粋絕絶絲糸經経綠緑緖緒緣縁縣県縱縦總総繩縄繪絵繫繋繼継續続纖繊罐缶聰聡聲声聽聴肅粛脫脱腦脳腳脚膽胆臟臓臺台與与舊旧舍舎舘館艷艶莊荘莖茎萬万蔣蒋薗園薰薫藏蔵藝芸藥薬處処虛虚號号螢蛍蟲虫蠟蝋蠶蚕蠻蛮"
    "衞衛裝装襃褒覺覚覽覧觀観觸触說説謠謡證証譯訳譽誉讀読變変讓譲豐豊豫予貳弐賣売賴頼贊賛踐践輕軽轉転辭辞遙遥遞逓遲遅邉辺邊辺郞郎鄉郷鄕郷醉酔醫医醬醤釀醸釋釈鋪舗錄録錢銭鍊錬鎭鎮鐵鉄鑄鋳鑛鉱閱閲關関陷陥隨随險険隱隠雙双雜雑"
    "雞鶏霸覇靈霊靑青靜静頰頬顏顔顯顕飜翻餘余騷騒驅駆驗験驛駅髓髄體体髙高髮髪鬪闘鬭闘鷄鶏鷗鴎鹽塩麥麦麵麺黃黄黑黒默黙點点黨党齊斉齋斎齒歯齡齢龍竜龜亀﨑崎𠮷吉"
    "塡填剝剥𠮟叱顚顛驒騨麴麹瀆涜囊嚢鹼鹸俠侠屛屏蟬蝉簞箪繡繍俱倶軀躯攪撹萊莱姬姫餠餅曻昇瑤瑶逹達"
    "桧檜篭籠礒磯埜野穐秋邨村凉涼凜凛竃竈壷壺逺遠栢柏靏鶴靍鶴湏須桺柳枩松蘆芦頴穎薮藪濤涛"
)  # fmt: skip
_NEW_FORMS = str.maketrans(_OLD_AND_NEW[::2], _OLD_AND_NEW[1::2]) | KANJI_OF_RADICALS

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""characters that are not displayed (Unicode's Default_Ignorable_Code_Point), including variation selectors of kanji"""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""a lone surrogate has no UTF-8 form, which the tokenizer and SQLite need"""

_WORTH = dict(zip("一二三四五六七八九十百千", (*range(1, 10), 10, 100, 1000), strict=True))
_NUMERAL = f"[{''.join(_WORTH)}]"
_ONES = "[一二三四五六七八九]"
_FORMAL = re.compile(rf"拾(?=(?:{_ONES}|[壱弐参伍])?[万円])|[壱弐参伍](?=[百千拾]|万?円)")
_PLAIN = str.maketrans("壱弐参伍拾", "一二三五十")
"""of the numerals of contracts and receipts: 金壱百弐拾万円"""
_NUMBER = rf"(?={_NUMERAL})(?:{_ONES}?千)?(?:{_ONES}?百)?(?:{_ONES}?十)?{_ONES}?"
_COUNTED = re.compile(
    rf"(?<![\d〇万億兆])(?<!{_NUMERAL})(?!一人|二人|千歳|一部|一円|(?<!{_NUMERAL}時)十二?分(?!以内))"
    rf"(?:三六(?=協定)|{_NUMBER}(?=人|回|級|歳|親等|日(?![市町月])|分|万?円|部|学期|交代|丁目|番地|次(?![元第])"
    rf"|(?<=[二三四五六七八九十百千])(?:名(?!山)|本(?![木松]))|(?<=[十百千])戸)|(?<=[第前]){_NUMBER}(?=条))"
)
"""a number before a counter; 一人, 一部, 一円 and 十分 are words of their own; 千歳, 四日市, 三日月, 四条,
六本木, 八戸 are names"""

_DIGITS = "[〇一二三四五六七八九]+"
_DECIMAL = re.compile(
    rf"(?<![〇一二三四五六七八九十百千]){_DIGITS}・{_DIGITS}(?=倍|割|%|パーセント|ポイント|[かヶケカヵ]月)"
)
_IN_DIGITS = str.maketrans("〇一二三四五六七八九・", "0123456789.")
"""一・二五倍, in the rules of old, is 1.25倍"""


class FoldedText(NamedTuple):
    text: str
    starts: Sequence[int]
    """for each character of `text`, the offset in the original where its source begins"""
    ends: Sequence[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that became `text[start:end]`, which must not be empty."""
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> FoldedText:
    """Folds `text`. Offsets are in characters. Lengths may differ: ㍿ becomes 株式会社, ﾊﾞ becomes バ."""
    folded = text.casefold()
    # Casefold never shortens a text, so equal length means that each character became one character.
    is_plain = len(folded) == len(text) and not _UNSEEN.search(text) and not _SURROGATE.search(text)
    if is_plain and unicodedata.is_normalized("NFKC", text) and unicodedata.is_normalized("NFKC", folded):
        return _in_digits(FoldedText(folded.translate(_NEW_FORMS), range(len(text)), range(1, len(text) + 1)))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _segments(text):
        piece = _fold_segment(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return _in_digits(FoldedText("".join(pieces).translate(_NEW_FORMS), starts, ends))


def _in_digits(folded: FoldedText) -> FoldedText:
    """二十人 as 20人. Sudachi reads most kanji numbers so, but takes 十人 for a word, and 四十分 for 四 and 十分."""
    plain = _FORMAL.sub(lambda found: found[0].translate(_PLAIN), folded.text)
    plain = _DECIMAL.sub(lambda found: found[0].translate(_IN_DIGITS), plain)
    folded = folded._replace(text=plain)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for number in _COUNTED.finditer(folded.text):
        digits = str(value_of(number[0]))
        start, end = folded.original(*number.span())
        pieces += folded.text[at : number.start()], digits
        starts += [*folded.starts[at : number.start()], *[start] * len(digits)]
        ends += [*folded.ends[at : number.start()], *[end] * len(digits)]
        at = number.end()
    if not pieces:
        return folded
    return FoldedText("".join([*pieces, folded.text[at:]]), [*starts, *folded.starts[at:]], [*ends, *folded.ends[at:]])


def value_of(number: str) -> int:
    """Of a number below ten thousand, as 千二百 is 1200."""
    total = digit = 0
    for numeral in number:
        worth = _WORTH.get(numeral, 0)
        if worth < 10:
            digit = 10 * digit + worth
        else:
            total, digit = total + (digit or 1) * worth, 0
    return total + digit


def _segments(text: str) -> list[tuple[int, int]]:
    """Spans that can be normalised alone: a character with the marks that may combine with it."""
    edges = [0, *(at for at in range(1, len(text)) if not _continues(text[at])), len(text)]
    return [(start, end) for start, end in pairwise(edges) if start < end]


@lru_cache(maxsize=65536)
def _continues(character: str) -> bool:
    """Whether it may combine with the character before it: accents, half-width voice marks, vowels of Hangul."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first).startswith("M") or "\u1160" <= first <= "\u11ff"


@lru_cache(maxsize=65536)
def _fold_segment(segment: str) -> str:
    seen = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", segment)).replace("№", "No.")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())

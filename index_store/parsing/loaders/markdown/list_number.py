"""The numbers of lists: 1, a, iv, ①, 一, イ."""

_DIGITS = "〇一二三四五六七八九"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_SIGNS = {
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "ideographEnclosedCircle": "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉",
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
}
"""kind -> its numbers; those beyond are written in digits"""
_LEGAL = str.maketrans("一二三五十", "壱弐参伍拾")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip

LARGEST = 5000
"""above it, a number is written in digits, whatever the list says"""


def list_number(count: int, kind: str) -> str:
    """A number as a list of this kind (ISO 29500-1, 17.18.59) shows it."""
    if not 0 < count <= LARGEST:
        return str(count)
    match kind:
        case "decimalZero":
            return f"{count:02}"
        case "upperLetter" | "lowerLetter":
            letter = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
            return letter.upper() if kind == "upperLetter" else letter
        case "upperRoman" | "lowerRoman":
            return _roman(count).upper() if kind == "upperRoman" else _roman(count)
        case "decimalFullWidth" | "decimalFullWidth2":
            return str(count).translate({ord("0") + digit: ord("０") + digit for digit in range(10)})
        case "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" if count <= 20:
            return chr(ord("①") + count - 1)
        case "japaneseCounting" | "chineseCounting" | "chineseCountingThousand" | "taiwaneseCountingThousand":
            return _counting(count)
        case "japaneseLegal":
            return _counting(count, one="一").translate(_LEGAL)
        case "numberInDash":
            return f"- {count} -"
        case "ordinal":
            return _ordinal(count)
        case "ideographDigital" | "japaneseDigitalTenThousand" | "taiwaneseDigital":
            return "".join(_DIGITS[int(digit)] for digit in str(count))
        case "aiueo" | "aiueoFullWidth":
            return _AIUEO[(count - 1) % len(_AIUEO)]
        case "iroha" | "irohaFullWidth":
            return _IROHA[(count - 1) % len(_IROHA)]
        case _ if count <= len(signs := _SIGNS.get(kind, "")):
            return signs[count - 1]
    return str(count)


def _roman(count: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += letters * (count // value)
        count %= value
    return text


def _ordinal(count: int) -> str:
    return f"{count}{'th' if count // 10 % 10 == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')}"


def _counting(count: int, one: str = "") -> str:
    """`one`: stands before 十, 百 and 千, too."""
    text = ""
    for value, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = count // value
        if digit:
            text += (one if digit == 1 and unit else _DIGITS[digit]) + unit
        count %= value
    return text

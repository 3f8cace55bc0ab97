"""The numbers that Word shows before paragraphs and does not store: 1.2, (a), 第3条.

People ask for a rule by its number, so the number must be part of the text.
"""

import re
from dataclasses import dataclass, field

from index_store.parsing.loaders.office.package import Package, attribute, number

BULLET = "-"

_DIGITS = "〇一二三四五六七八九"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip

LARGEST = 5000
"""above it, a number is written in digits, whatever the list says"""
LEVELS = 9
"""of a list (ISO 29500-1, 17.9.6)"""


@dataclass(frozen=True)
class _Level:
    format: str = "decimal"
    text: str = ""
    start: int = 1
    is_legal: bool = False
    """all numbers in digits, whatever their own levels say"""


@dataclass
class _List:
    levels: dict[int, _Level]
    counts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts as it is called: call `label` for each numbered paragraph, in order."""

    def __init__(self, package: Package, document: str) -> None:
        self._lists: dict[str, _List] = {}
        for part in package.related(document, "numbering"):
            root = package.tree(part)
            abstract = {
                attribute(element, "abstractNumId"): {
                    number(level, "ilvl", 0): _Level(
                        attribute(level.find("{*}numFmt"), "val") or "decimal",
                        attribute(level.find("{*}lvlText"), "val") or "",
                        number(level.find("{*}start"), "val", 0),
                        level.find("{*}isLgl") is not None,
                    )
                    for level in element.iterfind("{*}lvl")
                }
                for element in root.iterfind("{*}abstractNum")
            }
            shared: dict[str | None, dict[int, int]] = {}
            for element in root.iterfind("{*}num"):
                of = attribute(element.find("{*}abstractNumId"), "val")
                # Lists of one pattern continue to count, unless they say where to start.
                counts = (
                    {} if element.find("{*}lvlOverride/{*}startOverride") is not None else shared.setdefault(of, {})
                )
                self._lists[attribute(element, "numId") or ""] = _List(abstract.get(of, {}), counts)

    def label(self, list_id: str, level: int) -> str | None:
        """The mark before the paragraph: BULLET, its number, or "" for nothing; None if there is no such list."""
        found = self._lists.get(list_id)
        if found is None or level not in found.levels:
            return None
        kind = found.levels[level]
        found.counts[level] = found.counts.get(level, kind.start - 1) + 1
        for deeper in range(level + 1, LEVELS):
            found.counts.pop(deeper, None)
        if kind.format == "bullet":
            return BULLET
        if kind.format == "none":
            return re.sub(r"%\d", "", kind.text).strip()

        def counted(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            of = found.levels.get(at, kind)
            return list_number(found.counts.get(at, of.start), "decimal" if kind.is_legal else of.format)

        return re.sub(r"%([1-9])", counted, kind.text).strip()


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
        case "ideographDigital" | "japaneseDigitalTenThousand" | "taiwaneseDigital":
            return "".join(_DIGITS[int(digit)] for digit in str(count))
        case "aiueo" | "aiueoFullWidth":
            return _AIUEO[(count - 1) % len(_AIUEO)]
        case "iroha" | "irohaFullWidth":
            return _IROHA[(count - 1) % len(_IROHA)]
    return str(count)


def _roman(count: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += letters * (count // value)
        count %= value
    return text


def _counting(count: int) -> str:
    text = ""
    for value, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = count // value
        if digit:
            text += ("" if digit == 1 and unit else _DIGITS[digit]) + unit
        count %= value
    return text

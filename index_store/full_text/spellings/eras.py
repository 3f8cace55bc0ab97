"""Years of Japanese eras and fiscal years in short, as years of the common calendar."""

import re
from collections.abc import Iterator

from index_store.full_text.folding import value_of

_BEFORE = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
"""the year before the first of each era"""
_BEFORE |= dict(zip("mtshr明大昭平令", [*_BEFORE.values()] * 2, strict=True))
_YEAR = re.compile(
    r"(明治|大正|昭和|平成|令和|(?<![a-z\d])[mtshr](?=\d|元年)|(?<![\u3400-\u9fff])[明大昭平令](?=\d))"
    r"(\d{1,2}|[一二三四五六七八九十][〇一二三四五六七八九十]{0,3}|元)"
    r"(?:年(?!代)|(?=([./])\d{1,2}\3\d)|(?<![mts]\d)(?<![mt]\d\d)(?=[./](?:0?[1-9]|1[0-2])(?![\d/]|\.\d)))"
)
"""令和6年, 平成元年, R6年度, H30.4.1, 令6.4.1, R6.4, but not the screw M2.5 or S3/4"""
_FISCAL = re.compile(r"(?<![a-z\d])fy ?['’]?(\d\d)(?!\d)")
"""FY24, FY'24"""


def years_of_eras(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and year of each that `text`, which is folded, names."""
    for found in _YEAR.finditer(text):
        era, number, _ = found.groups()
        year = int(number) if number.isdecimal() else value_of(number.replace("元", "一"))
        yield *found.span(), _BEFORE[era] + year
    for found in _FISCAL.finditer(text):
        yield *found.span(), 2000 + int(found[1])

"""The kanji for each of Unicode's radicals that look like one. Some programs write these, above all into PDFs."""

_RADICALS_AND_KANJI = (
    # In pairs: the radical, its kanji.
    "⺁厂⺎兀⺒巳⺓幺⺜日⺝月⺠民⺩王⺬示⻁虎⻄西⻅见⻆角⻉贝⻋车⻑長⻓长⻔门⻗雨⻘青"
    "⻙韦⻚页⻛风⻜飞⻝食⻢马⻣骨⻤鬼⻥鱼⻦鸟⻨麦⻩黄⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱亀⻲亀"
)
"""those of the block U+2E80 that NFKC leaves as they are (Unicode's EquivalentUnifiedIdeograph.txt)"""

KANJI_OF_RADICALS = str.maketrans(_RADICALS_AND_KANJI[::2], _RADICALS_AND_KANJI[1::2])
"""for `str.translate`"""

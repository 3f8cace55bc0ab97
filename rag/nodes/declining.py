"""The words for an honest no."""

from collections.abc import Sequence

from rag.text.language import Language

LONGEST_QUERY = 80
"""characters of a query that are quoted"""

_SENTENCES: dict[Language, str] = {
    "ja": "「{index}」の文書の中に、この質問の答えは見つかりませんでした。",
    "en": "The documents in “{index}” do not hold the answer to this question.",
}
_WITH_WEB: dict[Language, str] = {
    "ja": "「{index}」の文書にも Web にも、この質問の答えは見つかりませんでした。",
    "en": "Neither the documents in “{index}” nor the web hold the answer to this question.",
}
_SEARCHED: dict[Language, str] = {
    "ja": "「{index}」{web}を次の言葉で検索しました: {queries}。",
    "en": "Searched “{index}”{web} for {queries}.",
}
_WEB: dict[Language, str] = {"ja": "と Web ", "en": " and the web"}
_QUERY: dict[Language, str] = {"ja": "「{}」", "en": "“{}”"}
_JOINT: dict[Language, str] = {"ja": "", "en": ", "}
_NEAREST: dict[Language, str] = {
    "ja": "最も近かった箇所は {markers} です。",
    "en": " The nearest passages are {markers}.",
}


def sentence(index: str, language: Language, *, web: bool = False) -> str:
    return (_WITH_WEB if web else _SENTENCES)[language].format(index=_line(index))


def account(
    index: str, queries: Sequence[str], nearest: Sequence[int], language: Language, *, web: bool = False
) -> str:
    """What was searched for, and where it came nearest. `nearest`: numbers of passages."""
    quoted = _JOINT[language].join(_QUERY[language].format(_line(query)) for query in queries)
    told = _SEARCHED[language].format(index=_line(index), web=_WEB[language] if web else "", queries=quoted)
    if not nearest:
        return told
    return told + _NEAREST[language].format(markers=" ".join(f"[{number}]" for number in nearest))


def _line(text: str) -> str:
    """A query may hold [1], which would cite something, and what Markdown reads as its own."""
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST_QUERY else line[: LONGEST_QUERY - 1] + "…"
    return line.translate(str.maketrans({"[": "［", "]": "］", "*": "＊", "`": "'", "<": "＜", ">": "＞"}))

"""The words of a no answer, in both languages: what was searched, and which passages were nearest."""

from collections.abc import Sequence

from index_store.base.text.shortened import shortened
from rag.text.language import Language

LONGEST_QUERY = 80
"""characters of a query in the text"""

_SENTENCES: dict[Language, str] = {
    "ja": "「{index}」の文書の中に、この質問の答えは見つかりませんでした。",
    "en": "No answer to this question was found in the documents of “{index}”.",
}
_WITH_WEB: dict[Language, str] = {
    "ja": "「{index}」の文書にも Web にも、この質問の答えは見つかりませんでした。",
    "en": "No answer to this question was found, neither in the documents of “{index}” nor on the web.",
}
_WEB_ALONE: dict[Language, str] = {
    "ja": "Web には、この質問の答えは見つかりませんでした。「{index}」の文書は検索していません。",
    "en": "No answer to this question was found on the web. The documents of “{index}” were not searched.",
}
_SEARCHED: dict[Language, str] = {
    "ja": "{places}を次の言葉で検索しました: {queries}。",
    "en": "Searched {places} for {queries}.",
}
_INDEX: dict[Language, str] = {"ja": "「{index}」", "en": "“{index}”"}
_WEB: dict[Language, str] = {"ja": "Web ", "en": "the web"}
_AND: dict[Language, str] = {"ja": "と ", "en": " and "}
_QUERY: dict[Language, str] = {"ja": "「{}」", "en": "“{}”"}
_JOINT: dict[Language, str] = {"ja": "", "en": ", "}
_NEXT: dict[Language, str] = {"ja": "", "en": " "}
NEAREST: dict[Language, str] = {
    "ja": "最も近かった箇所は {markers} です。",
    "en": " The nearest passages are {markers}.",
}
"""the sentence of a no answer that only names passages"""
NEAREST_ONE: dict[Language, str] = NEAREST | {"en": " The nearest passage is {markers}."}


def no_answer_sentence(index: str, language: Language, *, web: bool = False, documents: bool = True) -> str:
    """`web`, `documents`: whether they were searched."""
    sentences = _WEB_ALONE if web and not documents else _WITH_WEB if web else _SENTENCES
    return sentences[language].format(index=_line(index))


def search_account(
    index: str,
    queries: Sequence[str],
    nearest: Sequence[int],
    language: Language,
    *,
    for_web: Sequence[str] = (),
) -> str:
    """The queries, and the nearest passages. `queries`: for the documents; `nearest`: their numbers."""
    documents, web = _INDEX[language].format(index=_line(index)), _WEB[language]
    if queries == for_web:
        searches = [(_AND[language].join((documents, web)), queries)]
    else:
        searches = [(place, asked) for place, asked in ((documents, queries), (web, for_web)) if asked]
    told = _NEXT[language].join(
        _SEARCHED[language].format(
            places=place, queries=_JOINT[language].join(_QUERY[language].format(_line(query)) for query in asked)
        )
        for place, asked in searches
    )
    if not nearest:
        return told
    named = NEAREST if len(nearest) > 1 else NEAREST_ONE
    return told + named[language].format(markers=" ".join(f"[{number}]" for number in nearest))


_HARMLESS = str.maketrans("[]*`<>", "［］＊'＜＞")


def _line(text: str) -> str:
    """A query may contain [1], which would be a citation, or Markdown."""
    return shortened(" ".join(text.split()), LONGEST_QUERY).translate(_HARMLESS)

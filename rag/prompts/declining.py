"""The words for an honest no."""

from rag.language import Language

_SENTENCES: dict[Language, str] = {
    "ja": "「{index}」の文書の中に、この質問の答えは見つかりませんでした。",
    "en": "The documents in “{index}” do not hold the answer to this question.",
}


def sentence(index: str, language: Language) -> str:
    return _SENTENCES[language].format(index=index)

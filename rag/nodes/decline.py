"""No answer: what is said where the documents do not hold it, with what was searched and what came nearest."""

from collections.abc import Sequence

from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.chat_model import Answer
from rag.text.language import Language
from rag.trace.details import DeclineDetail
from rag.trace.passages import Passage

MOST_NEAREST = 3
"""passages that are shown where there is no answer"""


@step(role="declines")
async def decline(state: State, step: NodeStep) -> State:
    """Says that the documents do not hold the answer, without asking the model, whose memory is no source."""
    return say_no_answer(state, step)


def say_no_answer(state: State, step: NodeStep, said: str = "") -> State:
    """No answer as the outcome of `step`. `said`: what the model has written of it, which is shown already."""
    context, web = step.context, state.get("searched_web", False)
    queries = tuple(dict.fromkeys(state.get("queries") or (state["question"],)))
    nearest = nearest_passages(state)
    sentence = said or no_answer_sentence(context.index, context.language, web=web)
    account = search_account(context.index, queries, [passage.number for passage in nearest], context.language, web=web)
    rest = f"\n\n{account}"
    step.token(rest if said else sentence + rest)
    step.detail = DeclineDetail(text=sentence + rest, queries=queries, nearest=nearest, web=web)
    return {"answer": Answer(sentence, is_no_answer=True)}


def nearest_passages(state: State) -> tuple[Passage, ...]:
    """The best of all searches of the run: by their grades where they have some, else by their ranks."""
    grades = state.get("grades", {})
    found = {passage.number: passage for passage in (*state.get("seen", {}).values(), *state.get("passages", ()))}

    def distance(passage: Passage) -> tuple[float, int]:
        grade = grades.get(passage.number)
        return (1 - grade.score if grade and grade.score is not None else 1.0), passage.rank

    return tuple(sorted(found.values(), key=distance)[:MOST_NEAREST])


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


def no_answer_sentence(index: str, language: Language, *, web: bool = False) -> str:
    return (_WITH_WEB if web else _SENTENCES)[language].format(index=_line(index))


def search_account(
    index: str, queries: Sequence[str], nearest: Sequence[int], language: Language, *, web: bool = False
) -> str:
    """What was searched for, and where it came nearest. `nearest`: numbers of passages."""
    quoted = _JOINT[language].join(_QUERY[language].format(_line(query)) for query in queries)
    told = _SEARCHED[language].format(index=_line(index), web=_WEB[language] if web else "", queries=quoted)
    if not nearest:
        return told
    return told + _NEAREST[language].format(markers=" ".join(f"[{number}]" for number in nearest))


_HARMLESS = str.maketrans("[]*`<>", "［］＊'＜＞")


def _line(text: str) -> str:
    """A query may hold [1], which would cite something, and what Markdown reads as its own."""
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST_QUERY else line[: LONGEST_QUERY - 1] + "…"
    return line.translate(_HARMLESS)

"""Condense question: makes a follow-up a standalone question before the graph starts.

For example, それはいつまで? after a question about parental leave becomes a question that can be searched.
"""

import re
from collections.abc import Sequence

from index_store.search.searcher import LONGEST_QUESTION as LONGEST_SEARCHED
from rag.errors import PASSING
from rag.graph.context import Recorder
from rag.graph.step import Step
from rag.models.chat_model import ChatModel
from rag.text.language import Language, is_written_in
from rag.text.overlap import overlap
from rag.text.question.follow_up import stands_alone, still_leans
from rag.text.question.small_talk import is_small_talk
from rag.text.repetition import bare, repeats
from rag.text.reply.written_line import written_line
from rag.trace.derived.standalone import STANDALONE_STEP
from rag.trace.details import StandaloneDetail, Turn

LONGEST_QUESTION = 300
"""characters; a longer text is more than the question"""


_STATEMENT = re.compile(r"(?:(?:です|ます|でした|ました|ません|である)[。.]?|[^?？]\.)$")
"""the end of a sentence that is not a question"""
_ASKS = re.compile(
    r"[?？]|か[。.]?$|(?:たい(?:です)?|お願い(?:し|いたし)ます)[。.]?$"
    r"|^(?:please )?(?:explain|tell|give|show|list|describe|summari[sz]e|compare|provide|write|translate|answer"
    r"|elaborate|outline)\b",
    re.IGNORECASE,
)
"""a question, or a request, which may end as an answer does"""


async def condense_question(
    question: str, turns: Sequence[Turn], model: ChatModel, recorder: Recorder, *, language: Language
) -> str:
    """`question`, or its standalone form in the context of `turns` (at least one), in `language`. It is a step of the
    run.

    If the model fails, or writes an unusable question, the question stays as it is. If what it writes is as dependent
    as the question was, or about something else, the question follows the one before it: together they can be searched.
    If it only repeats an earlier question, as it should for "Are you sure?", the question follows that one. A question
    with a pasted text stands behind its standalone form.
    """
    step = Step(STANDALONE_STEP, recorder)
    return await step.run(_condense(question, tuple(turns), model, step, language))


async def _condense(question: str, turns: tuple[Turn, ...], model: ChatModel, step: Step, language: Language) -> str:
    step.detail = StandaloneDetail(before=question, after=question, why="stands_alone")
    step.verdict = "yes"
    if stands_alone(question):
        return question
    kept = step.detail.model_copy(update={"turns": turns})
    await step.seen()
    try:
        written = await model.condense_question(question, turns, step.usage, language=language)
    except PASSING as error:
        step.detail = kept.model_copy(update={"why": "failed"})
        step.verdict, step.fallback = "no", error.as_failure()
        return question
    after = written_line(written)
    is_repeated = repeats(after, (turn.question for turn in turns)) and not repeats(after, [question])
    may_join = not is_small_talk(question) and len(question) <= LONGEST_QUESTION
    if not _is_usable(after, question, language) or (is_repeated and not may_join):
        step.detail = kept.model_copy(update={"why": "refused", "refused": written})
        step.verdict = "no"
        return question
    if may_join and (is_repeated or _is_no_clearer(after, question, turns)):
        refused = None if after == question else written
        after = f"{after if is_repeated else turns[-1].question} {question}"
        step.detail = kept.model_copy(update={"after": after, "why": "joined", "refused": refused})
        step.verdict = "no"
        return after
    if len(question) > LONGEST_QUESTION:
        after = _with_pasted(after, question)
    step.detail = kept.model_copy(update={"after": after, "why": "stands_alone" if after == question else "rewritten"})
    return after


def _with_pasted(after: str, question: str) -> str:
    """A long question has text that was pasted, such as a mail. The line that the model writes has none of it."""
    whole = f"{after}\n\n{question}"
    return question if bare(after) in bare(question) or len(whole) > LONGEST_SEARCHED else whole


def _is_no_clearer(after: str, question: str, turns: Sequence[Turn]) -> bool:
    """A small model may leave a follow-up as it was, or write what shares no word with it or the conversation."""
    said = " ".join([question, *(text for turn in turns for text in (turn.question, turn.answer))])
    return still_leans(after, question) or not overlap(after, said)


def _is_usable(after: str, question: str, language: Language) -> bool:
    """A small model may change the language, or answer instead of asking. A request such as "Explain that." may end as
    an answer does, and so may its standalone form.
    """
    if not 0 < len(after) <= max(LONGEST_QUESTION, len(question)):
        return False
    if after != question and not is_written_in(after, language):
        return False
    return bool(_ASKS.search(after) or not _STATEMENT.search(after) or _STATEMENT.search(question))

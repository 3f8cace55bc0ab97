"""The edits that people can make to a finished step, by the name of the step."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rag.trace.calls import Message
from rag.trace.passages import Frozen, Retrieval


class LeaveOut(Frozen):
    """Leaves a passage out, by its number."""

    kind: Literal["leave_out"] = "leave_out"
    passage: int


class TakeIn(Frozen):
    """Adds a passage that the run has found, by its number."""

    kind: Literal["take_in"] = "take_in"
    passage: int


class TakeChunk(Frozen):
    """Adds any chunk of the index, or its section if the run reads sections."""

    kind: Literal["take_chunk"] = "take_chunk"
    document_id: str
    chunk_id: str


class TurnOver(Frozen):
    """Turns a grade over: yes becomes no, everything else becomes yes."""

    kind: Literal["turn_over"] = "turn_over"
    passage: int | None = None
    """number of the graded passage; None if the step has only one verdict"""


class EditQuery(Frozen):
    kind: Literal["query"] = "query"
    query: str


class EditPrompt(Frozen):
    """Replaces the prompt of the step's first call, word for word; its other calls are unchanged."""

    kind: Literal["prompt"] = "prompt"
    messages: tuple[Message, ...]


class ChangeRetrieval(Frozen):
    """Changes the retrieval from this step on."""

    kind: Literal["retrieval"] = "retrieval"
    retrieval: Retrieval


Edit = Annotated[
    LeaveOut | TakeIn | TakeChunk | TurnOver | EditQuery | EditPrompt | ChangeRetrieval, Field(discriminator="kind")
]

EDITS: Mapping[str, tuple[type[Frozen], ...]] = {
    "retrieve": (EditQuery, ChangeRetrieval, LeaveOut, TakeIn, TakeChunk),
    "grade_documents": (TurnOver,),
    "generate": (LeaveOut, TakeIn, EditPrompt),
    "check_grounding": (TurnOver,),
    "check_usefulness": (TurnOver,),
    "rewrite_question": (EditQuery,),
    "rewrite_for_web": (EditQuery,),
    "web_search": (EditQuery,),
    "decide_retrieval": (TurnOver,),
    "answer_from_memory": (EditPrompt,),
    "small_talk": (EditPrompt,),
}
"""the possible edits, by the name of the step"""

"""Why a reply ended, as services say it, and what it means here."""

from collections.abc import Mapping

from langchain_core.messages import AIMessage

from rag.errors import ModelError, ReplyCut, ReplyFiltered
from rag.trace.details import CutBy

WHOLE = frozenset(
    {
        "stop", "tool_calls", "function_call", "completed",
        "end_turn", "stop_sequence", "eos", "eos_token", "complete",
    }
)  # fmt: skip
"""reasons with which services end a whole reply: OpenAI's, then those of others"""

NO_REASON = frozenset({"", "null", "none"})
"""what stands in the pieces before the end; Alibaba's own protocol, and gateways to it, write null as a word"""

AT_THE_LIMIT = frozenset({"length", "max_output_tokens", "max_tokens", "model_length"})
"""reasons with which they end a reply that reached its limit of tokens"""

BY_A_FILTER = "content_filter"
"""how the reasons begin with which a content filter ends a reply; some services put their own one behind it"""

UNREAD: Mapping[CutBy | None, type[ModelError]] = {"length": ReplyCut, "filter": ReplyFiltered}
"""the error of a reply that ended before it could be read, by what ended it"""


def cut_by(piece: AIMessage) -> CutBy | None:
    """What ends the reply here too early, if anything does."""
    return cut_of(finish_reason(piece))


def cut_of(reason: str | None) -> CutBy | None:
    """The same for a finish reason."""
    if reason is None or reason in WHOLE:
        return None
    if reason in AT_THE_LIMIT:
        return "length"
    return "filter" if reason.startswith(BY_A_FILTER) else "service"


def finish_reason(piece: AIMessage) -> str | None:
    """Why the reply ends here, if it does, in lower case. OpenAI's Responses API tells a status instead."""
    told = piece.response_metadata
    reason = told.get("finish_reason") or (told.get("incomplete_details") or {}).get("reason") or told.get("status")
    said = str(reason or "").lower()
    return said if said not in NO_REASON else None

"""The calls of the chat model, word for word, and their stored form."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from pydantic import TypeAdapter

from index_store.base.errors import Failure
from rag.trace.passages import Frozen

MOST_OF_A_CALL = 60_000
"""characters of messages and reply that are kept: a context window of 16,384 tokens holds that much English"""

MOST_OF_A_RUN = 600_000
"""the same for all calls of a run together"""

LEVEL = 6
"""of zlib, its default: grades of one step repeat each other, and shrink to a tenth in some milliseconds"""


class CallSubject(NamedTuple):
    """The subject of a call."""

    task: str
    """a key such as `relevance`; pages have a text for it"""
    of: str = ""
    """the passage or sentence, if a step asks the same about several"""


class ShortenedText(Frozen):
    """A text; a long one keeps only its beginning and its end."""

    text: str
    left_out: int = 0
    """number of characters left out"""
    at: int = 0
    """their position in `text`"""


class Message(ShortenedText):
    role: str
    """system, user or assistant"""


W = TypeVar("W", bound=ShortenedText)


class TokenProbability(Frozen):
    """A token of the reply, if log-probabilities were requested."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()
    """the likeliest tokens at this place with log-probabilities; only if more than one was requested"""


class Request(Frozen):
    """A request as it was sent: only the messages and these settings. No header, so no key."""

    task: str
    """as in CallSubject"""
    of: str = ""
    model: str
    temperature: float | None
    max_tokens: int | None
    reply_format: str | None = None
    """`json_schema` or `function_call`, if a schema was requested"""
    messages: tuple[Message, ...]


class Call(Request):
    """One call of the chat model, with any kind of end."""

    number: int
    """from 1, in the order in which the step's calls began"""
    reply: ShortenedText
    """as received; for a function call, its arguments"""
    tokens: tuple[TokenProbability, ...] = ()
    """of the reply"""
    tokens_in: int = 0
    tokens_out: int = 0
    milliseconds: float
    retries: int = 0
    """earlier tries that failed: the service was busy, failed or could not be reached"""
    status: Literal["finished", "stopped", "failed"]
    error: Failure | None = None

    @property
    def characters(self) -> int:
        """The characters that are kept."""
        return sum(len(each.text) for each in (*self.messages, self.reply))


def within_limits(calls: Iterable[Call], most: int = MOST_OF_A_RUN) -> tuple[Call, ...]:
    """The calls with at most `most` characters in all, and MOST_OF_A_CALL each; the last calls are cut first."""
    kept = []
    for call in calls:
        kept.append(_shortened(call, min(most, MOST_OF_A_CALL)))
        most -= kept[-1].characters
    return tuple(kept)


def _shortened(call: Call, most: int) -> Call:
    """Cuts the longest texts, all to the same length."""
    if call.characters <= most:
        return call
    lengths = sorted(len(each.text) for each in (*call.messages, call.reply))
    longest = 0
    for position, length in enumerate(lengths):
        longest = most // (len(lengths) - position)
        if length > longest:
            break
        most -= length
    reply = _cut(call.reply, longest)
    return call.model_copy(
        update={
            "messages": tuple(_cut(each, longest) for each in call.messages),
            "reply": reply,
            "tokens": () if reply.left_out else call.tokens,
        }
    )


def _cut(words: W, most: int) -> W:
    """Cuts the middle: a prompt has its material at the beginning and its task at the end."""
    text = words.text
    if len(text) <= most:
        return words
    head, tail = most - most // 2, most // 2
    kept = text[:head] + text[len(text) - tail :]
    return words.model_copy(update={"text": kept, "left_out": len(text) - most, "at": head})


_calls: TypeAdapter[tuple[Call, ...]] = TypeAdapter(tuple[Call, ...])


def pack(calls: Sequence[Call]) -> bytes:
    return zlib.compress(_calls.dump_json(tuple(calls)), LEVEL)


def unpack(packed: bytes) -> tuple[Call, ...]:
    return _calls.validate_json(zlib.decompress(packed))

"""Watches the bytes of a response: repairs those that are no characters, leaves out a byte order mark, and notes
whether the service marked the end of a stream of events. The openai client does none of this.
"""

import codecs
from collections.abc import AsyncIterator

import httpx2

from rag.models.calls.usage import ReceivedReply, current_reply

MARK = b"[DONE]"
"""the last event of a stream in OpenAI's protocol"""

ENOUGH = 64
"""bytes that contain the mark and the empty lines after it"""


async def watch(response: httpx2.Response) -> None:
    """A response hook of an HTTP client. A compressed body stays as it is."""
    reply = current_reply()
    is_compressed = "content-encoding" in response.headers
    if reply and not is_compressed and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Watched(response.stream, reply)


class _Watched(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, reply: ReceivedReply) -> None:
        self._stream = stream
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        last, decoder = b"", codecs.getincrementaldecoder("utf-8-sig")("replace")
        async for piece in self._stream:
            last = (last + piece)[-ENOUGH:]
            self._reply.is_marked_whole = last.rstrip().endswith(MARK)
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()

    async def aclose(self) -> None:
        await self._stream.aclose()

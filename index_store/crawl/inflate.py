"""Undoes a Content-Encoding piece by piece, so that a small bomb never becomes a large piece of memory."""

import zlib
from collections.abc import Iterator

PIECE = 64 * 1024
"""bytes"""

_GZIP = b"\x1f\x8b"
_ANY = 32 + zlib.MAX_WBITS  # a gzip or zlib header, whichever comes
_RAW = -zlib.MAX_WBITS  # what some servers call deflate


class Broken(Exception):
    """The content is not encoded as its server says, or not whole."""


class Inflater:
    """Of gzip and deflate, which is all that the fetcher accepts."""

    ENCODINGS = ("gzip", "x-gzip", "deflate")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_ANY)
        self._has_begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Pieces of at most PIECE bytes. Raises Broken."""
        while data:
            if self._inflate.eof:
                if data[:1] != _GZIP[:1]:
                    return  # padding
                self._inflate = zlib.decompressobj(_ANY)  # gzip files may be joined
            piece = self._next(data)
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            if piece:
                yield piece

    def finish(self) -> Iterator[bytes]:
        """What is left. Raises Broken when the content ends too early."""
        while piece := self._inflate.decompress(self._inflate.unconsumed_tail, PIECE):
            yield piece
        if self._has_begun and not self._inflate.eof:
            raise Broken

    def _next(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, PIECE)
        except zlib.error as error:
            if self._has_begun:
                raise Broken from error
            self._inflate = zlib.decompressobj(_RAW)
            self._has_begun = True
            return self._next(data)
        self._has_begun = True
        return piece

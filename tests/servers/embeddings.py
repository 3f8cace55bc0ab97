"""Vectors for texts, similar if the texts share character bigrams; without a model, the same on every machine."""

import math
import unicodedata
import zlib

DIMENSIONS = 256


def embed(text: str) -> list[float]:
    """A unit vector of DIMENSIONS numbers, by feature hashing with signs (Weinberger et al. 2009)."""
    letters = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    vector = [0.0] * DIMENSIONS
    for first, second in zip(f" {letters}", f"{letters} ", strict=True):
        digest = zlib.crc32(f"{first}{second}".encode())
        vector[(digest >> 1) % DIMENSIONS] += 1.0 if digest & 1 else -1.0
    length = math.hypot(*vector) or 1.0
    return [number / length for number in vector]

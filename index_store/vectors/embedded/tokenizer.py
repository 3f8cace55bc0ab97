"""Splits texts into tokens as multilingual-e5 was trained: SentencePiece's Unigram over 250,000 pieces."""

import re

from tokenizers import Tokenizer as Unigram
from tokenizers import models, pre_tokenizers

from index_store.vectors.embedded.weights import Weights

LONGEST_PIECE = 16
"""characters, including the mark at the beginning of a word"""

SPACES = re.compile("  +")


class Tokenizer:
    """Thread-safe."""

    def __init__(self, weights: Weights) -> None:
        self._normalisation = weights.normalisation
        self._unigram = Unigram(models.Unigram(weights.pieces, unk_id=weights.unknown, byte_fallback=False))
        self._unigram.pre_tokenizer = pre_tokenizers.Metaspace()

    def tokens(self, text: str, most: int | None = None) -> list[int]:
        """The first `most` tokens, or all; without the marks of beginning and end."""
        text = SPACES.sub(" ", text.translate(self._normalisation))
        if most:
            text = text[: most * LONGEST_PIECE]
        tokens: list[int] = self._unigram.encode(text, add_special_tokens=False).ids
        return tokens[:most]

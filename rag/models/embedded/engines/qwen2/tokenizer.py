"""The tokenizer of a Qwen2 model, from its GGUF file, and the layout of its prompts."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as Steps

WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Qwen2's own: what is split before pieces are joined"""

BEGIN, END, END_OF_TEXT = "<|im_start|>", "<|im_end|>", "<|endoftext|>"

_SEEN = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_UNSEEN = [byte for byte in range(256) if byte not in _SEEN]
CHARACTERS = {chr(byte): byte for byte in _SEEN} | {chr(256 + number): byte for number, byte in enumerate(_UNSEEN)}
"""how byte-level BPE writes each byte: as itself if it can be seen, else as one of the characters from 256 on"""

USUAL_SYSTEM = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
"""what the model was trained with where a prompt has no system message"""


def save(path: Path, words: Sequence[str], merges: Iterable[str], marks: Iterable[str]) -> None:
    """In the format of the package `tokenizers`.

    `words`: in the order of their numbers, with `marks`, which mark a place and are never text. `merges`: pairs that
    are joined, with a space between them, in the order in which they are joined.
    """
    pairs = [(first, second) for first, second in (merge.split(" ") for merge in merges)]
    tokenizer = Tokenizer(BPE({word: number for number, word in enumerate(words)}, pairs))
    tokenizer.pre_tokenizer = Steps(
        [Split(Regex(WORDS), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    tokenizer.save(str(path), pretty=False)


class PromptTokenizer:
    """Thread-safe."""

    def __init__(self, path: Path) -> None:
        """`path`: saved by `save`."""
        self._tokenizer = Tokenizer.from_file(str(path))
        # Text that spells a mark is still text: nobody can end a message of ours from within a passage.
        self._tokenizer.encode_special_tokens = True
        self._begin, self._end = self._number(BEGIN), self._number(END)
        self.ends = frozenset({self._end, self._number(END_OF_TEXT)})
        """tokens that end a reply"""

    def prompt(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """The tokens of the messages, (role, text) each, and of the beginning of the reply."""
        if not messages or messages[0][0] != "system":
            messages = [("system", USUAL_SYSTEM), *messages]
        tokens: list[int] = []
        for role, text in messages:
            tokens += [self._begin, *self._encoded(f"{role}\n{text}"), self._end, *self._encoded("\n")]
        return [*tokens, self._begin, *self._encoded("assistant\n")]

    def bytes_of(self, token: int) -> bytes:
        """A token may be a part of a character."""
        spelled = self._tokenizer.id_to_token(token) or ""
        return bytes(CHARACTERS[each] for each in spelled if each in CHARACTERS)

    def _encoded(self, text: str) -> list[int]:
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def _number(self, mark: str) -> int:
        number = self._tokenizer.token_to_id(mark)
        if number is None:
            raise ValueError(f"the tokenizer has no {mark}")
        return int(number)

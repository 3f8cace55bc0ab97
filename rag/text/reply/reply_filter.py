"""All filters of a reply, in the order in which it goes through them."""

from index_store.base.text.bidi import without_bidi_controls
from rag.text.reply.end_tokens import EndTokenFilter
from rag.text.reply.instruction_filter import InstructionFilter
from rag.text.reply.quoted_tags import QuotedTagFilter
from rag.text.reply.reasoning_filter import ReasoningFilter
from rag.text.reply.surrogates import SurrogateFilter
from rag.text.reply.wrapper_filter import WrapperFilter


class ReplyFilter:
    """Takes a reply in pieces, and returns the part that readers may see."""

    def __init__(self, instructions: str) -> None:
        """`instructions`: the system messages of the prompt."""
        self._prompted = instructions
        self._characters = SurrogateFilter()
        self._reasoning = ReasoningFilter()
        self._end_tokens = EndTokenFilter()
        self._wrapper = WrapperFilter()
        self._instructions = InstructionFilter(instructions)
        self._quoted_tags = QuotedTagFilter()

    @property
    def is_void(self) -> bool:
        """The latest piece showed that readers may see nothing of what was returned before it."""
        return self._reasoning.is_void

    def feed(self, piece: str) -> str:
        reply = self._reasoning.feed(without_bidi_controls(self._characters.feed(piece)))
        if self.is_void:
            self._end_tokens = EndTokenFilter()
            self._wrapper = WrapperFilter()
            self._instructions = InstructionFilter(self._prompted)
            self._quoted_tags = QuotedTagFilter()
        shown = self._instructions.feed(self._wrapper.feed(self._end_tokens.feed(reply)))
        return self._quoted_tags.feed(shown)

    def end(self) -> str:
        rest = self._reasoning.feed(self._characters.end()) + self._reasoning.end()
        rest = self._end_tokens.feed(rest) + self._end_tokens.end()
        rest = self._wrapper.feed(rest) + self._wrapper.end()
        rest = self._instructions.feed(rest) + self._instructions.end()
        return self._quoted_tags.feed(rest) + self._quoted_tags.end()

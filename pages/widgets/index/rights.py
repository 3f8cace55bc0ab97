"""What the reader may do with an index."""

from index_store.access.rights import Right
from index_store.base.errors import EmptyIndex, UnknownIndex
from pages.server.process import engine
from pages.words.say import say


def may_add_to(index: str) -> bool:
    """Whether the reader may add documents. An index that does not exist is created with its first document, by people
    who may create indexes.
    """
    right = right_to(index)
    return engine().store.may_create_indexes if right is None else right >= Right.WRITE


def nothing_here(words: str, index: str | None = None) -> str:
    """The text for a page or index without documents. `words`: key of the sentence for people who may add some."""
    may_add = may_add_to(index) if index else engine().store.may_create_indexes
    return say(words if may_add else "documents.empty_reader")


def right_to(index: str) -> Right | None:
    """The reader's right. None if the index does not exist or the reader has no right to it any more."""
    try:
        return engine().store.right(index)
    except (UnknownIndex, EmptyIndex):
        return None

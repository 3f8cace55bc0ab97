"""An index in a list to choose from: its name and its number of documents."""

from index_store.catalogue.records import Index
from pages.words.say import counted, say


def size(index: Index) -> int:
    """Number of documents, with any status."""
    return index.documents + index.pending + index.failed


def index_label(index: Index) -> str:
    """For pages about all of its documents."""
    return _label(index, size(index))


def asked_index_label(index: Index) -> str:
    """For pages that ask it: only documents that are ready count."""
    return _label(index, index.documents)


def _label(index: Index, documents: int) -> str:
    return say("index.option", name=index.name, documents=counted("index.documents", documents))

"""How many documents of an index are not searched, or only in part."""

from index_store.catalogue.records import Index
from pages.words.say import counted, say


def told_not_searched(index: Index) -> str:
    """A sentence; empty if all of its documents are searched."""
    counts = [counted("search.pending", index.pending)] if index.pending else []
    counts += [counted("search.failed", index.failed)] if index.failed else []
    counts += [counted("search.partial", index.partial)] if index.partial else []
    return say("search.not_searched", counts=" · ".join(counts)) if counts else ""

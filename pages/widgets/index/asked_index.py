"""The index that a run has asked, which may have been renamed, deleted or replaced since."""

from pages.server.process import engine
from rag.errors import IndexGone
from rag.runs.history.history import PastRun
from rag.trace.events import RunStarted


def asked_index(run: PastRun | RunStarted) -> str | None:
    """Its present name; None if it is gone, or the reader may not read it. Without an id, as in old runs, only the
    stored name tells which index it was.
    """
    return run.index if run.index_id is None else engine().store.index_name(run.index_id)


def index_to_ask(run: PastRun | RunStarted) -> str:
    """The same, to ask it again. Raises IndexGone."""
    index = asked_index(run)
    if index is None:
        raise IndexGone(index=run.index)
    return index

"""The data with which a run begins."""

from collections.abc import Sequence
from dataclasses import dataclass

from index_store.ingestion.sources import FileSource
from rag.runs.run.asker import Asker
from rag.runs.run.options import RunOptions
from rag.trace.events import Origin


@dataclass(frozen=True)
class NewRun:
    """A run that is to begin: the question, who asks it and where, and how it is answered."""

    question: str
    index: str
    options: RunOptions
    asker: Asker
    conversation_id: str | None = None
    """None: a new conversation begins"""
    attachments: Sequence[FileSource] = ()
    """added to the index first"""
    through: str | None = None
    """the run continues the latest branch with this run, instead of the conversation's latest branch"""
    edits: str | None = None
    """the run takes the place of this run, in a new branch"""
    again: str | None = None
    """the run asks the question of this run once more, which was asked after what this run was asked after"""
    origin: Origin | None = None
    """of a run of a comparison, which follows no other run"""
    suggests: bool = False
    """follow-ups are suggested after the answer, if the settings allow it"""

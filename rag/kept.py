"""What is kept here in databases of the data folder, for `python -m index_store move` (index_store/move/kept.py)."""

from index_store.move.kept import Kept
from index_store.move.tables import Tables
from rag.runs.fork.checkpoint_database import CheckpointDatabase
from rag.runs.history.schema import FILE, SCHEMA

KEPT: tuple[Kept, ...] = (Tables(FILE.partition(".")[0], SCHEMA), CheckpointDatabase())

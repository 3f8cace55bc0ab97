"""The databases of this package, for `python -m index_store move` (index_store/transfer/move/databases.py)."""

from index_store.transfer.move.databases import MovableDatabase
from index_store.transfer.move.tables import Tables
from rag.runs.fork.checkpoint_database import CheckpointDatabase
from rag.runs.history.schema import FILE, SCHEMA

DATABASES: tuple[MovableDatabase, ...] = (Tables(FILE.partition(".")[0], SCHEMA), CheckpointDatabase())

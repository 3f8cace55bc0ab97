"""A database of SQLite, as each of this app's is kept: several threads read while one writes."""

import json
import sqlite3
from pathlib import Path

from sqlalchemy import Engine, create_engine, event

VARIABLES = 900
"""values in one IN (...); SQLite before 3.32 takes 999"""

_PRAGMAS = (
    "journal_mode = WAL",  # readers go on while one writes
    "synchronous = NORMAL",  # can lose the last moment in a power cut, never the file
    "foreign_keys = ON",
    "busy_timeout = 30000",  # milliseconds
)


def open_database(file: Path) -> Engine:
    """Made when there is none; its folder must be there."""
    engine = create_engine(f"sqlite:///{file}", json_serializer=_json)
    event.listen(engine, "connect", _set_up)
    return engine


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _set_up(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()

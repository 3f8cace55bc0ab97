"""Statements that SQLAlchemy has compiled for one database serve the next.

It compiles each statement once for each database, and each test has databases of its own: without this, a tenth of the
tests' time.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Dialect, Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache


@contextmanager
def shared() -> Iterator[None]:
    compiled = defaultdict[Hashable, LRUCache[object, object]](lambda: LRUCache(2000))
    cache = property(lambda engine: compiled[_kind(engine.dialect)], lambda engine, own: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "_compiled_cache", cache, raising=False)
        # What is compiled is found again by its dialect, of which each database has one.
        patch.setattr(DefaultDialect, "__hash__", lambda dialect: hash(_kind(dialect)))
        patch.setattr(DefaultDialect, "__eq__", lambda dialect, other: _kind(dialect) == _kind(other))
        yield


def _kind(dialect: Dialect) -> Hashable:
    return type(dialect), getattr(dialect, "_json_serializer", None)

"""What the connections of an engine do at its end."""

from sqlalchemy import Engine, event
from sqlalchemy.pool import ConnectionPoolEntry


def close_at_its_end(engine: Engine) -> None:
    """Connections that a thread has still in use when the engine is disposed are closed when they come back. SQLAlchemy
    keeps them open until they are found as garbage, and so long Postgres holds their locks.
    """
    is_over = False

    def note(_: Engine) -> None:
        nonlocal is_over
        is_over = True

    def close(_: object, entry: ConnectionPoolEntry) -> None:
        if is_over:
            entry.invalidate()

    event.listen(engine, "engine_disposed", note)
    event.listen(engine, "checkin", close)

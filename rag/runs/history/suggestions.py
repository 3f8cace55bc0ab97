"""The stored follow-ups that were suggested after a run."""

from collections.abc import Sequence

from sqlalchemy import Engine, select

from rag.runs.history import schema
from rag.runs.history.redaction import Redaction


class StoredSuggestions:
    """Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, database: Engine, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction

    def save(self, run_id: str, questions: Sequence[str]) -> None:
        """Saves nothing if the run was deleted, or has read a document that was removed meanwhile."""
        if not questions:
            return
        with self._redaction.saving() as connection:
            exists = connection.execute(select(schema.runs.c.id).where(schema.runs.c.id == run_id)).scalar()
            if not exists or self._redaction.has_been_read(connection, run_id):
                return
            rows = [{"run_id": run_id, "position": at, "question": each} for at, each in enumerate(questions)]
            connection.execute(schema.suggestions.insert(), rows)

    def after(self, run_id: str) -> tuple[str, ...]:
        """The suggested follow-ups, the best first."""
        suggested = schema.suggestions.c
        rows = select(suggested.question).where(suggested.run_id == run_id).order_by(suggested.position)
        with self._database.connect() as connection:
            return tuple(connection.execute(rows).scalars())

    def _asked_in(self, conversation_id: str) -> list[str]:
        """All questions of the conversation, as people asked them."""
        asked = select(schema.runs.c.question).where(schema.runs.c.conversation_id == conversation_id)
        with self._database.connect() as connection:
            return list(connection.execute(asked).scalars())

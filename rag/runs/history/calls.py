"""The stored prompts and replies of the chat model. They are read when somebody opens them."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Engine, func, literal, select

from rag.runs.history import schema
from rag.runs.history.redaction import Redaction
from rag.trace.calls import MOST_OF_A_RUN, Call, pack, unpack, within_limits


class Calls:
    """Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, database: Engine, redaction: Redaction) -> None:
        self._database = database
        self._redaction = redaction

    def save(self, run_id: str, step: str, attempt: int, calls: Sequence[Call]) -> None:
        """Saves the calls of a finished step, within the limits of rag/trace/calls.py.

        Saves nothing if the run has read a document that was removed meanwhile.
        """
        with self._redaction.saving() as connection:
            if self._redaction.has_been_read(connection, run_id):
                return
            so_far = select(func.sum(schema.calls.c.characters)).where(schema.calls.c.run_id == run_id)
            kept = within_limits(calls, MOST_OF_A_RUN - (connection.execute(so_far).scalar() or 0))
            connection.execute(
                schema.calls.insert().values(
                    run_id=run_id,
                    step=step,
                    attempt=attempt,
                    characters=sum(call.characters for call in kept),
                    packed=pack(kept),
                )
            )

    def of_step(self, run_id: str, step: str, attempt: int) -> tuple[Call, ...]:
        """The calls of a finished step, word for word, in the order in which they began. Empty if they are not kept."""
        of_step = (schema.calls.c.run_id == run_id, schema.calls.c.step == step, schema.calls.c.attempt == attempt)
        with self._database.connect() as connection:
            packed = connection.execute(select(schema.calls.c.packed).where(*of_step)).scalar()
        return unpack(packed) if packed else ()

    def copy(self, run_id: str, to_run_id: str, steps: Collection[tuple[str, int]], *, within: Connection) -> None:
        """Copies the calls of these steps (name and attempt) from a fork's origin. `within`: the transaction that saves
        the fork.
        """
        calls = schema.calls
        for step, attempt in steps:
            of_step = (calls.c.run_id == run_id, calls.c.step == step, calls.c.attempt == attempt)
            copied = select(
                literal(to_run_id), calls.c.step, calls.c.attempt, calls.c.characters, calls.c.packed
            ).where(*of_step)
            within.execute(calls.insert().from_select(list(calls.c.keys()), copied))

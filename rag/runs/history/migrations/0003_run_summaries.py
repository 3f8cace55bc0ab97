"""The result of each run in its row. For older runs it is read from their events."""

from itertools import islice

import sqlalchemy as sa
from alembic import op

# It uses today's reader of events, for events of any version: SQL can't find why there was no answer.
from rag.trace.derived.cause import cause_of
from rag.trace.events import from_json

revision = "0003"
down_revision = "0002"

BATCH = 200
"""runs whose events are in memory at the same time"""

_ENDS = """
    UPDATE runs SET (seconds, tokens, model_calls, outcome) = (
        SELECT CAST({totals}seconds{end} AS FLOAT),
               CAST({totals}tokens_in{end} AS INTEGER) + CAST({totals}tokens_out{end} AS INTEGER),
               CAST({totals}model_calls{end} AS INTEGER),
               {outcome}
        FROM events WHERE run_id = runs.id AND event LIKE '{{"kind":"run_finished"%'
        ORDER BY position DESC LIMIT 1
    ) WHERE status != 'running'
"""

_EVENTS = sa.text("SELECT event FROM events WHERE run_id = :run ORDER BY position")
_CAUSE = sa.text("UPDATE runs SET cause = :cause WHERE id = :run")

_JSON = {
    "sqlite": {"totals": "json_extract(event, '$.totals.", "end": "')", "outcome": "json_extract(event, '$.outcome')"},
    "postgresql": {
        "totals": "(CAST(event AS json) #>> '{totals,", "end": "}')", "outcome": "CAST(event AS json) ->> 'outcome'"
    },
}  # fmt: skip


def upgrade() -> None:
    op.add_column("runs", sa.Column("seconds", sa.Float()))
    op.add_column("runs", sa.Column("tokens", sa.Integer()))
    op.add_column("runs", sa.Column("model_calls", sa.Integer()))
    for name in ("outcome", "cause", "cause_by_person"):
        op.add_column("runs", sa.Column(name, sa.String()))
    connection = op.get_bind()
    connection.execute(sa.text(_ENDS.format(**_JSON[connection.dialect.name])))
    connection.exec_driver_sql("UPDATE runs SET cause = 'none' WHERE status = 'finished'")
    _find_causes(connection)
    op.create_index("ix_runs_seconds", "runs", ["seconds"])
    op.create_index("ix_runs_tokens", "runs", ["tokens"])
    op.create_index("ix_runs_started_at", "runs", ["started_at", "id"])
    op.create_index("ix_runs_pipeline", "runs", ["pipeline", "started_at"])
    op.create_index("ix_runs_index_name", "runs", ["index_name", "started_at"])


def _find_causes(connection: sa.Connection) -> None:
    """For runs that did not end well. A good answer has no cause, so its events are not read."""
    asked = "SELECT id FROM runs WHERE outcome IN ('not_in_documents', 'unconfirmed') OR status = 'failed'"
    ids = iter(connection.exec_driver_sql(asked).scalars().all())
    while batch := list(islice(ids, BATCH)):
        found = []
        for run_id in batch:
            rows = connection.execute(_EVENTS, {"run": run_id})
            finding = cause_of([from_json(text) for text in rows.scalars()])
            found.append({"cause": finding.cause if finding else None, "run": run_id})
        connection.execute(_CAUSE, found)

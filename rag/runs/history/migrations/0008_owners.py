"""The owners of conversations and runs, and the id of the index that a run asked.

Older rows have no owner, and only the name of the index.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("person_id", sa.String()))
    op.create_index("ix_conversations_person_id", "conversations", ["person_id", "updated_at"])
    op.add_column("runs", sa.Column("index_id", sa.String()))
    op.add_column("runs", sa.Column("person_id", sa.String()))
    for name, columns in {
        "started_at": ["started_at", "id"],
        "seconds": ["seconds"],
        "tokens": ["tokens"],
        "pipeline": ["pipeline", "started_at"],
        "index_name": ["index_name", "started_at"],
    }.items():
        op.create_index(f"ix_runs_person_id_{name}", "runs", ["person_id", *columns])

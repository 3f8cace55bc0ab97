"""Branches of a conversation, the reason for a thumb, and suggested follow-ups.

Older runs follow each other in the order in which they were asked.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("runs", sa.Column("follows", sa.String()))
    op.add_column("runs", sa.Column("feedback_reason", sa.Text()))
    op.create_table(
        "suggestions",
        sa.Column("run_id", sa.String(), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("question", sa.Text(), nullable=False),
    )
    runs = sa.table("runs", *map(sa.column, ("id", "conversation_id", "started_at", "follows")))
    # Runs with the same time are in the order in which they were saved.
    row: sa.ColumnClause[object] = sa.literal_column("rowid" if op.get_bind().dialect.name == "sqlite" else "ctid")
    in_order = sa.func.lag(runs.c.id).over(partition_by=runs.c.conversation_id, order_by=(runs.c.started_at, row))
    before = sa.select(runs.c.id, in_order.label("before")).subquery()
    op.execute(runs.update().values(follows=before.c.before).where(runs.c.id == before.c.id))

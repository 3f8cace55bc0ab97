"""The last run that a link to a conversation shows: the end of the branch that was shared.

Older links get the latest question of their time, so they show its branch.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("shares", sa.Column("through", sa.String()))
    runs = sa.table("runs", *map(sa.column, ("id", "conversation_id", "started_at")))
    shares = sa.table("shares", *map(sa.column, ("conversation_id", "created_at", "through")))
    asked_before = (runs.c.conversation_id == shares.c.conversation_id) & (runs.c.started_at <= shares.c.created_at)
    latest = sa.select(runs.c.id).where(asked_before).order_by(runs.c.started_at.desc()).limit(1)
    op.execute(shares.update().values(through=latest.scalar_subquery()))

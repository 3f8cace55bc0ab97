"""What apps on one database know of each other's runs: those in flight, their apps, their text so far, and the
documents removed meanwhile.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "live",
        sa.Column("run_id", sa.String(), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("app", sa.BigInteger(), nullable=False),
        sa.Column("is_stopped", sa.Boolean(), nullable=False),
        sa.Column("before", sa.Integer(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.Column("party", sa.String()),
        sa.Column("at_once", sa.Integer()),
        sa.Column("came", sa.Integer()),
        sa.Column("turn", sa.Integer()),
    )
    op.create_table(
        "tokens",
        sa.Column("run_id", sa.String(), sa.ForeignKey("live.run_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("after", sa.Integer(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
    )
    op.create_table(
        "removed",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("removed_at", sa.Float(), nullable=False),
    )

"""Comparisons, with the vote for the best run."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", sa.String(), sa.ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("index_name", sa.String(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("best_run_id", sa.String(), sa.ForeignKey("runs.id", ondelete="SET NULL")),
    )
    op.create_index("ix_comparisons_created_at", "comparisons", ["created_at"])
    op.create_index("ix_comparisons_best_run_id", "comparisons", ["best_run_id"])
    op.create_table(
        "compared",
        sa.Column("comparison_id", sa.String(), sa.ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("run_id", sa.String(), sa.ForeignKey("runs.id", ondelete="SET NULL")),
    )
    op.create_index("ix_compared_run_id", "compared", ["run_id"])

"""The prompts and replies of the chat model, by step. Older runs have none."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "calls",
        sa.Column("run_id", sa.String(), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("step", sa.String(), primary_key=True),
        sa.Column("attempt", sa.Integer(), primary_key=True),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
    )

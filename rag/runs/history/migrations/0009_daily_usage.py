"""The usage of each person per day."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "used",
        sa.Column("person_id", sa.String(), primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
    )

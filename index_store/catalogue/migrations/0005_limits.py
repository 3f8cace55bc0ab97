"""Limits for the members of a group."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "limits",
        sa.Column("group", sa.Text(), primary_key=True),
        sa.Column("runs_at_once", sa.Integer()),
        sa.Column("tokens_a_day", sa.Integer().with_variant(sa.BigInteger(), "postgresql")),
        sa.Column("files", sa.Integer()),
        sa.Column("megabytes", sa.Integer()),
    )

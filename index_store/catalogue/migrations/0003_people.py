"""People who sign in, owners of indexes, and grants. Existing indexes have no owner."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("mail", sa.Text(), nullable=False),
        sa.Column("mail_is_verified", sa.Boolean(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("role", sa.String()),
        sa.Column("disabled_at", sa.DateTime()),
        sa.Column("last_seen_at", sa.DateTime()),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.UniqueConstraint("issuer", "subject"),
    )
    op.create_table(
        "grants",
        sa.Column("index_id", sa.String(32), sa.ForeignKey("indexes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("kind", sa.String(), primary_key=True),
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("right", sa.Integer(), nullable=False),
    )
    with op.batch_alter_table("indexes") as table:
        table.add_column(sa.Column("owner_id", sa.String(32)))
        table.create_foreign_key("owned", "people", ["owner_id"], ["id"], ondelete="SET NULL")

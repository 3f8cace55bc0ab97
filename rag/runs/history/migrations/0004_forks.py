"""The kind of a conversation: chat, comparison or fork. Older ones are chats."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    with op.batch_alter_table("conversations") as table:
        table.add_column(sa.Column("kind", sa.String(), nullable=False, server_default="chat"))
        table.add_column(sa.Column("origin_run_id", sa.String()))
        table.create_foreign_key("forked", "runs", ["origin_run_id"], ["id"], ondelete="CASCADE")
        table.create_index("ix_conversations_origin_run_id", ["origin_run_id"])

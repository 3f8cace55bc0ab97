"""An index of the documents that are being added: each search counts them, also among a hundred thousand."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    pending = sa.text("status = 'pending'")
    op.create_index("ix_documents_pending", "documents", ["index_id"], sqlite_where=pending, postgresql_where=pending)

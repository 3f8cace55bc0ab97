"""Removed documents, until everyone who has quoted them knows."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table("removed", sa.Column("document_id", sa.String(32), primary_key=True))

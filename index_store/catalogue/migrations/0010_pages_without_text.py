"""Which pages of a document have no text. Empty for documents that were added before."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("documents", sa.Column("pages_without_text", sa.Text()))

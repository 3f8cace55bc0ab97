"""Which text of a chunk was embedded: a new version of its document uses the vector again if it has the same text."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("chunks", sa.Column("digest", sa.LargeBinary(16)))

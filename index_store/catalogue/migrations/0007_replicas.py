"""Which app stores the sources of a job, if several share a database."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("app", sa.BigInteger()))

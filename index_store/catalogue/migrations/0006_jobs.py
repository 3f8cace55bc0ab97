"""Jobs that several processes work on, and when each host that they crawl may be asked again."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    long = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("index_id", sa.String(32), sa.ForeignKey("indexes.id", ondelete="SET NULL")),
        sa.Column("index_name", sa.Text(), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("begun_at", sa.DateTime(), nullable=False),
        sa.Column("is_admitted", sa.Boolean(), nullable=False),
        sa.Column("is_cancelled", sa.Boolean(), nullable=False),
        sa.Column("is_dismissed", sa.Boolean(), nullable=False),
        sa.Column("failure", sa.JSON()),
    )
    op.create_table(
        "job_items",
        sa.Column("id", long, primary_key=True),
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("size", long, nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("chunks", sa.Integer()),
        sa.Column("embedded", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("is_listed", sa.Boolean(), nullable=False),
        sa.Column("result", sa.JSON()),
        sa.Column("work", sa.JSON()),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("lease", sa.String(32)),
    )
    op.create_index("ix_job_items_job_id", "job_items", ["job_id"])
    op.create_table(
        "crawled_hosts",
        sa.Column("host", sa.Text(), primary_key=True),
        sa.Column("next_at", sa.Float(53), nullable=False),
    )

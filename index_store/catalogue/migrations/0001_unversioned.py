"""A catalogue from before there were versions: adds what is newer than its tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

COLUMNS = {
    "indexes": (("analysis", sa.String()), ("glossary", sa.Text())),
    "documents": (
        ("parent", sa.Text()), ("name", sa.Text()), ("charset", sa.Text()), ("incoming", sa.Integer()),
    ),
}  # fmt: skip


def upgrade() -> None:
    there = sa.inspect(op.get_bind())
    for table, columns in COLUMNS.items():
        known = {column["name"] for column in there.get_columns(table)}
        for name, kind in columns:
            if name not in known:
                op.add_column(table, sa.Column(name, kind))
    known = set(there.get_table_names())
    if "sites" not in known:
        op.create_table(
            "sites",
            sa.Column("index_id", sa.String(32), sa.ForeignKey("indexes.id", ondelete="CASCADE"), primary_key=True),
            sa.Column("url", sa.Text(), primary_key=True),
            sa.Column("options", sa.JSON(), nullable=False),
            sa.Column("is_crawling", sa.Boolean(), nullable=False),
            sa.Column("crawled_at", sa.DateTime()),
        )
    if "pages" not in known:
        document = sa.ForeignKey("documents.id", ondelete="CASCADE")
        op.create_table(
            "pages",
            sa.Column("document_id", sa.String(32), document, primary_key=True),
            sa.Column("known", sa.JSON(), nullable=False),
        )
    if "dropped" not in known:
        op.create_table("dropped", sa.Column("collection", sa.String(64), primary_key=True))

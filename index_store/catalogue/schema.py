"""The tables of the catalogue. Each change of them needs a migration for older catalogues."""

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from index_store.base.database.database import Schema

metadata = MetaData()

LONG = Integer().with_variant(BigInteger(), "postgresql")
"""in SQLite, every integer is long"""

indexes = Table(
    "indexes",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(64), unique=True, nullable=False),
    Column("embedding_model", String, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("collection", String(64), nullable=False),
    Column("analysis", String),
    Column("glossary", Text),
    Column("owner_id", ForeignKey("people.id", ondelete="SET NULL")),
)
"""`analysis`: the analyzer that made the terms of its full text (Analyzer.id); None: not made yet. `glossary`: one term
per line. `owner_id`: None if the index was made while nobody signs in; it then belongs to admins only.
"""

_IS_PENDING = text("status = 'pending'")

documents = Table(
    "documents",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("index_id", ForeignKey("indexes.id", ondelete="CASCADE"), nullable=False),
    Column("source", Text, nullable=False),
    Column("parent", Text),
    Column("name", Text),
    Column("charset", Text),
    Column("title", Text, nullable=False),
    Column("kind", String, nullable=False),
    Column("size", LONG, nullable=False),
    Column("status", String, nullable=False),
    Column("error", JSON(none_as_null=True)),
    Column("fingerprint", String(64), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("incoming", Integer),
    Column("sections", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("pages_without_text", Text),
    Column("added_at", DateTime, nullable=False),
    UniqueConstraint("index_id", "source"),
    Index("ix_documents_pending", "index_id", sqlite_where=_IS_PENDING, postgresql_where=_IS_PENDING),
)
"""`revision`: the ready version, 0 if there is none. `incoming`: a newer one that is being added or has failed."""

sections = Table(
    "sections",
    metadata,
    Column("id", String, primary_key=True),
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("headings", JSON, nullable=False),
    Column("page", Integer),
    Column("text", Text, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", String, primary_key=True),
    Column("section_id", ForeignKey("sections.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("page", Integer),
    Column("headings", JSON, nullable=False),
    Column("digest", LargeBinary(16)),
)
"""`digest`: of the text that was embedded; NULL for chunks of older catalogues."""

sites = Table(
    "sites",
    metadata,
    Column("index_id", ForeignKey("indexes.id", ondelete="CASCADE"), primary_key=True),
    Column("url", Text, primary_key=True),
    Column("options", JSON, nullable=False),
    Column("is_crawling", Boolean, nullable=False),
    Column("crawled_at", DateTime),
)

pages = Table(
    "pages",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("known", JSON, nullable=False),
)
"""Data for the next crawl of a page whose document is ready."""

leftovers = Table(
    "leftovers",
    metadata,
    Column("collection", String(64), primary_key=True),
    Column("document_id", String(32), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("chunks", Integer, nullable=False),
)
"""Vectors that may be in Chroma and not in `chunks`: recorded before they are written, so that all can be deleted."""

dropped = Table("dropped", metadata, Column("collection", String(64), primary_key=True))
"""Collections of Chroma that no index uses any more, until they are deleted."""

removed = Table("removed", metadata, Column("document_id", String(32), primary_key=True))
"""Removed documents, until everyone who has quoted them knows."""

people = Table(
    "people",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("mail", Text, nullable=False),
    Column("mail_is_verified", Boolean, nullable=False),
    Column("groups", JSON, nullable=False),
    Column("role", String),
    Column("disabled_at", DateTime),
    Column("last_seen_at", DateTime),
    Column("created_at", DateTime, nullable=False),
    UniqueConstraint("issuer", "subject"),
)
"""`issuer` and `subject`: who the person is according to the sign-in. An empty issuer: has not signed in yet; `subject`
is then the subject or mail address with which they will. `role`: given by hand; None: from claims and settings.
"""

sign_ins = Table(
    "sign_ins",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("person_id", ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("ends_at", DateTime, nullable=False),
)
"""Browsers in which a person is signed in, until they sign out. `key`: the hash of the secret in the cookie."""

grants = Table(
    "grants",
    metadata,
    Column("index_id", ForeignKey("indexes.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", String, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("right", Integer, nullable=False),
)
"""`kind`: of the grantee: person, account, group or everyone. `name`: the person's id, the account, the group's name.
"""

limits = Table(
    "limits",
    metadata,
    Column("group", Text, primary_key=True),
    Column("runs_at_once", Integer),
    Column("tokens_a_day", LONG),
    Column("files", Integer),
    Column("megabytes", Integer),
)
"""The limits of a group's members, see access/limits.py; NULL: the limit of everybody."""

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("index_id", ForeignKey("indexes.id", ondelete="SET NULL")),
    Column("index_name", Text, nullable=False),
    Column("person_id", String(32), nullable=False),
    Column("begun_at", DateTime, nullable=False),
    Column("is_admitted", Boolean, nullable=False),
    Column("is_cancelled", Boolean, nullable=False),
    Column("is_dismissed", Boolean, nullable=False),
    Column("failure", JSON(none_as_null=True)),
    Column("app", BigInteger),
)
"""Jobs of several processes; those of one process are in its memory. `is_admitted`: all its sources are among its
items. `app`: number of the replica that stores its sources, or that last had it in its list.
"""

job_items = Table(
    "job_items",
    metadata,
    Column("id", LONG, primary_key=True),
    Column("job_id", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("source", Text, nullable=False),
    Column("size", LONG, nullable=False),
    Column("stage", String, nullable=False),
    Column("chunks", Integer),
    Column("embedded", Integer, nullable=False),
    Column("waiting", Integer, nullable=False),
    Column("is_listed", Boolean, nullable=False),
    Column("result", JSON(none_as_null=True)),
    Column("work", JSON(none_as_null=True)),
    Column("is_open", Boolean, nullable=False),
    Column("lease", String(32)),
)
"""`work`: the work for the item, in the form of ingestion/queue/. `is_open`: whether it is not done yet. `lease`: of
the worker that works on it, or last did. `waiting`: pages of a site that are still to come.
"""

crawled_hosts = Table(
    "crawled_hosts",
    metadata,
    Column("host", Text, primary_key=True),
    Column("next_at", Float(53), nullable=False),
)
"""`next_at`: when it may be asked again, in seconds of the database's clock."""

SCHEMA = Schema(metadata, Path(__file__).parent / "migrations")


def now() -> datetime:
    """UTC without a time zone, as SQLite stores it."""
    return datetime.now(UTC).replace(tzinfo=None)

"""Crawled sites, and what the crawler must know of their pages next time."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, select, update

from index_store.catalogue.records import DocumentStatus, Site
from index_store.catalogue.schema import documents, indexes, now, pages, sites
from index_store.crawl import CrawlOptions, KnownPage

NOTHING_KNOWN = KnownPage(etag=None, last_modified=None, digest="", links=())
"""for a page without a ready version: it is fetched as if for the first time, and may be gone"""
NEVER_CAME = NOTHING_KNOWN.model_copy(update={"ever_came": False})


class Sites:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, index_id: str) -> list[Site]:
        """By address."""
        query = select(sites, indexes.c.name).join(indexes).where(sites.c.index_id == index_id).order_by(sites.c.url)
        with self._engine.connect() as connection:
            return [
                Site(
                    index=row.name, options=CrawlOptions(**row.options), is_crawling=row.is_crawling,
                    crawled_at=row.crawled_at,
                )
                for row in connection.execute(query)
            ]  # fmt: skip

    def has(self, index_id: str, url: str) -> bool:
        with self._engine.connect() as connection:
            return connection.execute(select(sites.c.url).where(_site(index_id, url))).first() is not None

    def begin_crawl(self, index_id: str, url: str, options: dict[str, Any]) -> None:
        with self._engine.begin() as connection:
            known = connection.execute(select(sites.c.url).where(_site(index_id, url))).one_or_none()
            values = {"options": options, "is_crawling": True}
            if known:
                connection.execute(update(sites).where(_site(index_id, url)).values(**values))
            else:
                connection.execute(insert(sites).values(index_id=index_id, url=url, **values))

    def end_crawl(self, index_id: str, url: str, *, is_complete: bool) -> None:
        values = {"is_crawling": False} | ({"crawled_at": now()} if is_complete else {})
        with self._engine.begin() as connection:
            connection.execute(update(sites).where(_site(index_id, url)).values(**values))

    def delete(self, index_id: str, url: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(sites).where(_site(index_id, url)))

    def known_pages(self, index_id: str, url: str) -> dict[str, KnownPage]:
        """Source of each document of the site -> data for the next crawl."""
        query = (
            select(documents.c.source, documents.c.status, documents.c.revision, documents.c.incoming, pages.c.known)
            .select_from(documents.outerjoin(pages))
            .where(documents.c.index_id == index_id, documents.c.parent == url)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return {row.source: _known(row) for row in rows}


def _known(row: Any) -> KnownPage:
    if row.known and row.status == DocumentStatus.READY:
        return KnownPage(**row.known)
    return NOTHING_KNOWN if row.revision or row.incoming else NEVER_CAME


def put_page(connection: Connection, document_id: str, known: dict[str, Any] | None) -> None:
    connection.execute(delete(pages).where(pages.c.document_id == document_id))
    if known is not None:
        connection.execute(insert(pages).values(document_id=document_id, known=known))


def _site(index_id: str, url: str) -> ColumnElement[bool]:
    return (sites.c.index_id == index_id) & (sites.c.url == url)

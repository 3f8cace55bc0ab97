"""The result of a crawl, in a form that tests can compare easily."""

from dataclasses import dataclass

from index_store.base.settings.settings import Settings
from index_store.crawl import CrawledPage, KnownPage, PageOutcome


@dataclass(frozen=True)
class Crawled:
    """All pages of a crawl that has ended."""

    pages: list[CrawledPage]

    def of(self, outcome: PageOutcome) -> list[str]:
        return [page.url for page in self.pages if page.outcome is outcome]

    @property
    def fetched(self) -> list[str]:
        return self.of(PageOutcome.FETCHED)

    @property
    def paths(self) -> list[str]:
        """Paths of the fetched pages, in order and without the host."""
        return ["/" + url.split("/", 3)[3] for url in self.fetched]

    @property
    def only(self) -> CrawledPage:
        assert len(self.pages) == 1, self.pages
        return self.pages[0]

    @property
    def failure(self) -> str:
        """The error of the only page, which must have failed, as a sentence."""
        assert self.only.outcome is PageOutcome.FAILED, self.only
        assert self.only.error is not None
        return self.only.error.sentence("en")

    @property
    def known(self) -> dict[str, KnownPage]:
        """What the next crawl gets as known pages."""
        return {
            page.url: KnownPage(
                etag=page.etag,
                last_modified=page.last_modified,
                digest=page.digest,
                links=page.links,
                look=page.look,
            )
            for page in self.pages
            if page.outcome in (PageOutcome.FETCHED, PageOutcome.UNCHANGED)
        }


def settings(**values: object) -> Settings:
    """Settings that allow the site of the test to be crawled, with short time limits."""
    given = {"crawl_allowed": "127.0.0.0/8", "crawl_rate": 500, "crawl_timeout": 10, "max_file_mb": 5}
    return Settings(_env_file=None, **(given | values))

"""The steps of a crawl: which address is fetched next, and what its answer means.

Links come first, in rings around the start. Then come addresses that only the sitemap names, then pages that seemed to
be duplicates of a page that did not come. `crawl.py` runs it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from index_store.base.errors import DocumentError
from index_store.base.settings.settings import MEGABYTE, Settings
from index_store.crawl.address import host_of, loops, origin_of, site_of
from index_store.crawl.answers import kinds
from index_store.crawl.answers.links import PageOutline, outline_of_headers, read_outline
from index_store.crawl.answers.sitemap import places_of_sitemap, read_sitemap
from index_store.crawl.duplicates import NO_LOOK, Duplicate, Duplicates, is_doubtful
from index_store.crawl.errors import (
    BadRedirect,
    KnownPagesKept,
    NothingToCrawl,
    PageBroken,
    PageFailed,
    PageFormatUnsupported,
    PageMissing,
    PageOfOtherKind,
    PageRefused,
    PageTimedOut,
    RedirectsEndless,
    RobotsForbids,
    RobotsUnavailable,
    SiteBusy,
    SiteGivenUp,
    SiteUnavailable,
    SiteUnreachable,
)
from index_store.crawl.frontier import CrawlVisit, Frontier
from index_store.crawl.known_pages import KnownPages
from index_store.crawl.records import CrawledPage, CrawlOptions, KnownPage, PageOutcome, Patterns
from index_store.crawl.requests.cookies import Cookies
from index_store.crawl.requests.fetch import CONTENT, Body, Fetcher, FetchResponse
from index_store.crawl.requests.politeness import (
    MOVED,
    MOVED_FOR_GOOD,
    SHAKY,
    Paces,
    PoliteFetcher,
    Robots,
    Rules,
    target_of,
)
from index_store.crawl.sign_ins import SignIns
from index_store.parsing.loaders.formats import BY_SUFFIX

log = logging.getLogger(__name__)

HOPS = 10
"""redirects in a row; Google follows as many"""
SILENCES = 10
"""pages in a row that fail, or fail for now, after which the crawl gives up the site"""

_MISSING_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.NO_CONTENT)
_SILENT = (SiteUnreachable, SiteBusy, SiteUnavailable, PageTimedOut, PageBroken, RobotsUnavailable)


class Crawler:
    def __init__(
        self,
        options: CrawlOptions,
        settings: Settings,
        known: Mapping[str, KnownPage],
        fetcher: Fetcher,
        deliver: Callable[[CrawledPage], None],
        slots: asyncio.Semaphore,
        paces: Paces,
    ) -> None:
        """`slots`: one for each page that may be delivered and not taken yet; the reader releases it."""
        self._options = options
        self._fetcher = fetcher
        self._deliver = deliver
        self._slots = slots
        self._at_once = settings.crawl_at_once
        self._limit = int(settings.max_file_mb * MEGABYTE)
        self._polite = PoliteFetcher(fetcher, 1 / settings.crawl_rate, paces)
        self._robots = Robots(fetcher, partial(self._polite.get_file, cuts=True))
        self._cookies = Cookies()
        self._patterns = Patterns(options)
        self._known = KnownPages(known, self._patterns.want)
        self._sites = {site_of(options.url)}
        self._start = options.url
        """where redirects of the start lead"""
        self.frontier = Frontier(options.limit)
        self._duplicates = Duplicates(
            {url: page.digest for url, page in known.items()},
            {url: page.look for url, page in known.items() if page.look != NO_LOOK},
        )
        self._only_named: set[str] = set()
        """addresses to which no links lead, only pages that name them as canonical"""
        self._named_in_vain: set[str] = set()
        """those of them that failed"""
        self._sign_ins = SignIns()
        self._answered: set[str] = set()
        """origins that have answered, at least for their robots.txt"""
        self._failures = 0
        self._silences = 0
        self._start_failed = False
        self.gave_up = False
        """whether the site stopped answering, so that pages are missing"""

    async def run(self) -> None:
        try:
            await self._run()
        finally:
            await self._robots.aclose()

    async def _run(self) -> None:
        start = CrawlVisit(self._options.url, 0, is_start=True)
        self.frontier.add(start)
        await self._work()
        if not self._start_failed:
            if self._options.depth and not self.frontier.met_a_limit:
                for url in await self._sitemap():
                    self._queue(url, 1)
                await self._work()
            await self._take_duplicates_alone()
            if self.frontier.pages:
                await self._look_for_known()
        if not self._known.outcomes:
            await self._slots.acquire()
            nothing = NothingToCrawl(url=start.url)
            self._hand_over(CrawledPage(url=start.url, outcome=PageOutcome.FAILED, error=nothing))
        if self.gave_up and self._known.outcomes.get(start.url) is not PageOutcome.FAILED:
            await self._slots.acquire()
            given_up = SiteGivenUp(host=host_of(self._start))
            self._deliver(CrawledPage(url=start.url, outcome=PageOutcome.KEPT, error=given_up))

    async def _work(self) -> None:
        # Not a TaskGroup: its reader must get the error that ends the crawl (a full disk) itself, not in a group.
        workers = [asyncio.create_task(self._worker()) for _ in range(self._at_once)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _worker(self) -> None:
        while visit := await self.frontier.take():
            await self._slots.acquire()
            try:
                page = await self._visit(visit)
                self._silences = 0
            except DocumentError as error:
                page = self._failed(visit, error)
            if page:
                self._hand_over(page)
            else:
                self._slots.release()
            self._conclude(visit, page)
            if self._silences >= SILENCES:
                log.warning("%s does not answer any more, so the crawl ends", host_of(visit.url))
                self.frontier.close()
                self.gave_up = True
            is_page = page is not None and page.outcome is not PageOutcome.GONE
            await self.frontier.done(visit, is_page=is_page and not (page and isinstance(page.error, PageRefused)))

    async def _visit(self, visit: CrawlVisit) -> CrawledPage | None:
        """None if the address is no page of its own. Raises DocumentError if it fails for now."""
        url = visit.url
        self._sign_ins.refuse_form_for_page(visit)
        rules = await self._rules(url)
        if not rules.allow(url):
            if visit.is_start:
                raise RobotsForbids(url=url)
            return self._gone_if_known(visit)
        known = self._known.get(url)
        answer = await self._ask(visit, known)
        if answer.status in MOVED:
            return self._follow(visit, answer)
        if answer.status == HTTPStatus.NOT_MODIFIED and known:
            return self._unchanged(visit, known, answer)
        if answer.status in _MISSING_STATUSES and not visit.is_start:
            return self._gone_if_known(visit)
        if answer.status not in CONTENT:
            raise _refusal(url, answer.status)
        if not answer.body:
            return self._of_other_kind(visit, answer)
        page = None
        try:
            page = await self._read(visit, answer, answer.body, known)
        finally:
            if page is None or page.path is None:
                self._fetcher.discard(answer.body)
        return page

    async def _read(
        self, visit: CrawlVisit, answer: FetchResponse, body: Body, known: KnownPage | None
    ) -> CrawledPage | None:
        if known and known.digest == body.digest:
            return self._unchanged(visit, known, answer)
        outline = await self._outline(visit.url, answer, body)
        if visit.is_start:
            self._duplicates.add_look(visit.url, outline.look)
        if self._has_content_of_another(visit, body):
            if outline.canonical:
                self._queue_canonical(outline.canonical, visit.depth)
            # Its links are not followed: relative links with ever longer addresses would never end.
            return None
        if outline.moved_to:
            self._move(visit, outline.moved_to)
            return None
        if self._sign_ins.is_form_for_another(visit, outline):
            return self._gone_if_known(visit)
        is_duplicate = not known and self._is_of_canonical(visit, outline)
        for frame in outline.frames:
            self._queue(frame, visit.depth)
        self._queue_links(visit, outline)
        if is_duplicate:
            return None
        if outline.frames or not outline.may_index:  # what a frameset itself says, browsers don't show
            return self._gone_if_known(visit)
        if not self._patterns.want(visit.url):
            return None
        self._duplicates.add_page(visit.url, body.digest, outline.look)
        return self._fetched(visit.url, answer, body, outline)

    async def _outline(self, url: str, answer: FetchResponse, body: Body) -> PageOutline:
        """What the page tells a crawler; of its links, those to the sites of this crawl."""
        outline = outline_of_headers(answer.headers, url)
        if BY_SUFFIX[_suffix(url, answer)] is BY_SUFFIX[kinds.HTML]:
            charset = kinds.charset_of(answer.headers)
            outline = await asyncio.to_thread(read_outline, body.path, url, charset, outline)
        return replace(outline, links=self._of_sites(outline.links), frames=self._of_sites(outline.frames))

    def _fetched(self, url: str, answer: FetchResponse, body: Body, outline: PageOutline) -> CrawledPage:
        # Only pages that name it may lead to a canonical page. While they are unchanged, it counts as a link.
        named = self._of_sites(self._found_canonical(url, outline.canonical))
        return CrawledPage(
            url=url,
            outcome=PageOutcome.FETCHED,
            path=body.path,
            name=kinds.name_of(answer.headers, url, _suffix(url, answer)),
            charset=kinds.charset_of(answer.headers),
            etag=answer.headers.get("etag"),
            last_modified=answer.headers.get("last-modified"),
            digest=body.digest,
            links=tuple(dict.fromkeys((*outline.links, *named))),
            look=outline.look,
        )

    def _found_canonical(self, url: str, canonical: str | None) -> list[str]:
        if canonical is None or canonical == url or canonical in self._named_in_vain:
            return []
        # That of a page which was known is not asked for, so only what was found before counts.
        known = self._known.get(url)
        was_found = known is None or canonical in known.links or canonical in self._known
        return [canonical] if was_found else []

    def _unchanged(self, visit: CrawlVisit, known: KnownPage, answer: FetchResponse) -> CrawledPage | None:
        self._queue_links(visit, known)
        if not self._patterns.want(visit.url):
            return None
        if not outline_of_headers(answer.headers, visit.url).may_index:
            return self._gone_if_known(visit)  # only its header has changed, as for a PDF
        return CrawledPage(
            url=visit.url,
            outcome=PageOutcome.UNCHANGED,
            etag=answer.headers.get("etag", known.etag),
            last_modified=answer.headers.get("last-modified", known.last_modified),
            digest=known.digest,
            links=known.links,
            look=known.look,
        )

    def _gone_if_known(self, visit: CrawlVisit) -> CrawledPage | None:
        return CrawledPage(url=visit.url, outcome=PageOutcome.GONE) if visit.url in self._known else None

    def _of_other_kind(self, visit: CrawlVisit, answer: FetchResponse) -> CrawledPage | None:
        if visit.is_start:
            kind = kinds.media_type(answer.headers)
            raise PageOfOtherKind(url=visit.url, kind=kind, known=" ".join(BY_SUFFIX))
        if suffix := kinds.unsupported_suffix(answer.headers, visit.url):
            raise PageFormatUnsupported(url=visit.url, suffix=suffix)
        return self._gone_if_known(visit)

    def _failed(self, visit: CrawlVisit, error: DocumentError) -> CrawledPage | None:
        log.info("%s: %s", visit.first, error)
        if visit.first in self._only_named and visit.url not in self._known:
            # The pages that name it are there: maybe it is an address of the site outside of this network.
            self._named_in_vain.add(visit.first)
            return None
        self._failures += not isinstance(error, PageFormatUnsupported)  # no link is hidden in it
        is_silent = isinstance(error, _SILENT) or error.details.get("status") in SHAKY
        # What never answered, such as the https of a site without TLS, costs no time: its robots.txt is asked for once.
        is_silent &= origin_of(visit.url) in {origin_of(self._start), *self._answered}
        self._silences = self._silences + 1 if is_silent else 0
        url = visit.url if visit.url in self._known else visit.first
        known = self._known.get(url)
        if known and not isinstance(error, RobotsForbids):
            self._queue_links(visit, known)
            self._known.is_sure &= not visit.is_start
        elif visit.is_start:
            self._start_failed = True
        return CrawledPage(url=url, outcome=PageOutcome.FAILED, error=error)

    # Redirects

    def _follow(self, visit: CrawlVisit, answer: FetchResponse) -> CrawledPage | None:
        target = target_of(answer)
        self._cookies.note(answer)
        known = self._known.get(visit.url)
        # Of a page that never came, there is nothing to keep until the redirect ends.
        if answer.status in MOVED_FOR_GOOD or (known and not known.ever_came):
            self._known.note_moved_for_good(visit.url)
        if target and target.address == visit.url and target.written != visit.url and not visit.written:
            # Only the session differs, or the spelling. Such a server wants to see it once.
            self.frontier.requeue(replace(visit, written=target.written))
            return None
        if target:
            self._move(visit, target.address)
            return None
        if visit.is_start:
            raise BadRedirect(url=visit.first)
        return self._gone_if_known(visit)

    def _move(self, visit: CrawlVisit, target: str) -> None:
        if target in (visit.url, *visit.chain) and not visit.has_cookies and self._cookies.bring(target):
            self.frontier.requeue(visit.back_at(target))
            return
        if target in (visit.url, *visit.chain) or len(visit.chain) >= HOPS:
            raise RedirectsEndless(url=visit.first)
        if visit.is_start:
            self._sites.add(site_of(target))  # example.com may live at portal.example.com
            self._start = target
        else:
            self._sign_ins.refuse_move(visit, target, self._sites)
            if not self._is_wanted(target):
                return
            if target in self.frontier.seen:
                self._sign_ins.note_move(visit, target)
        self.frontier.add(visit.moved_to(target))

    # Duplicates

    def _has_content_of_another(self, visit: CrawlVisit, body: Body) -> bool:
        original = self._duplicates.with_content(body.digest)
        if original is None or original == visit.url:
            return False
        self._known.is_sure |= original != self._options.url and original in self._known
        return self._duplicates.is_one(Duplicate(visit, None, digest=body.digest), original)

    def _is_of_canonical(self, visit: CrawlVisit, outline: PageOutline) -> bool:
        """Whether it is a duplicate of the page that it names as canonical, which is fetched, too."""
        url, canonical = visit.url, outline.canonical
        if not canonical or canonical == url or not self._is_wanted(canonical):
            return False
        self._queue_canonical(canonical, visit.depth)
        doubts = any(is_doubtful(url, canonical, start) for start in (self._start, self._options.url))
        doubts |= self._duplicates.is_called_like(self._start, outline.look)
        return self._duplicates.is_one(Duplicate(visit, outline.look, doubts), canonical)

    def _conclude(self, visit: CrawlVisit, page: CrawledPage | None) -> None:
        is_page = page is not None and (
            page.outcome in (PageOutcome.FETCHED, PageOutcome.UNCHANGED)
            or (page.outcome is PageOutcome.FAILED and page.url in self._known)
        )
        for duplicate in self._duplicates.conclude(visit.url, is_page=is_page):
            self.frontier.requeue(duplicate)
        for led in self._sign_ins.take_led_to(visit.url):
            self.frontier.requeue(led)

    async def _take_duplicates_alone(self) -> None:
        for duplicate in self._duplicates.take_waiting():
            self.frontier.requeue(duplicate)
        await self._work()

    # Pages known from last time

    async def _look_for_known(self) -> None:
        """Decides about the pages that were not reached. If something failed that may have led to them, or the start
        leads to no known page, they are asked for themselves; in the second case, those that answer are kept.
        """
        is_sure = self._known.is_sure  # not what a page under maintenance answers below
        unreached = self._known.unreached() if self._options.depth else []
        if self._failures or not is_sure:
            for url in unreached:
                self.frontier.requeue(CrawlVisit(url, self._options.depth))
            await self._work()
        if self.frontier.met_a_limit:
            return
        for url in self._known.gone(unreached if is_sure else ()):
            await self._slots.acquire()
            self._hand_over(CrawledPage(url=url, outcome=PageOutcome.GONE))
        if not is_sure and self._known.keeps_any(unreached):
            await self._slots.acquire()
            error = KnownPagesKept(url=self._options.url)
            self._deliver(CrawledPage(url=self._options.url, outcome=PageOutcome.KEPT, error=error))

    def _hand_over(self, page: CrawledPage) -> None:
        self._known.note(page)
        self._deliver(page)

    # Which addresses to fetch

    def _is_wanted(self, url: str) -> bool:
        return site_of(url) in self._sites and self._patterns.want(url)

    def _of_sites(self, links: Iterable[str]) -> tuple[str, ...]:
        return tuple(link for link in links if site_of(link) in self._sites)

    def _queue_links(self, visit: CrawlVisit, page: PageOutline | KnownPage) -> None:
        links = page.links
        if visit.is_start:
            self._known.is_sure |= any(link in self._known and link not in (visit.first, visit.url) for link in links)
        if visit.depth < self._options.depth:
            for link in links:
                self._queue(link, visit.depth + 1)
        else:
            self._known.note_links_beyond(links)

    def _queue_canonical(self, url: str, depth: int) -> None:
        if url not in self.frontier.seen:  # maybe only its duplicates lead to it
            self._queue(url, depth)
            self._only_named.add(url)

    def _queue(self, url: str, depth: int) -> None:
        self._only_named.discard(url)
        if url not in self.frontier.seen and self._is_wanted(url) and not kinds.is_hopeless(url) and not loops(url):
            self.frontier.add(CrawlVisit(url, depth))

    async def _sitemap(self) -> list[str]:
        """Its addresses in the folder of the start."""
        start = self._start
        try:
            rules = await self._rules(start)
        except DocumentError:
            return []  # the start page reports the reason
        places = places_of_sitemap(rules.robots.sitemaps, start)
        sitemap = await read_sitemap(places, self._fetcher, self._polite.get_file)
        self._failures += not sitemap.is_whole
        return sitemap.in_folder(start, self._options.url)

    # Requests

    async def _rules(self, url: str) -> Rules:
        rules = await self._robots.rules(url)
        self._answered.add(origin_of(url))
        self._polite.slow_down(url, rules.delay)
        return rules

    async def _ask(self, visit: CrawlVisit, known: KnownPage | None) -> FetchResponse:
        told = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified} if known else {}
        # Only ASCII can be sent back. Otherwise, the page is fetched as if for the first time.
        conditions = {name: value for name, value in told.items() if value and value.isascii()}
        return await self._polite.get(
            visit.written or visit.url,
            self._limit,
            headers=conditions | self._cookies.header(visit.url),
            wants=lambda headers: kinds.suffix_of(headers, visit.url) is not None,
        )


def _suffix(url: str, answer: FetchResponse) -> str:
    return kinds.suffix_of(answer.headers, url) or kinds.HTML


def _refusal(url: str, status: int) -> DocumentError:
    if status in _MISSING_STATUSES:
        return PageMissing(url=url)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return SiteBusy(host=host_of(url))
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return PageRefused(url=url, status=status)
    return PageFailed(url=url, status=status)

"""Forms that ask for a password. A page that leads to one fails with that reason: it is neither the form nor gone."""

from collections import defaultdict
from collections.abc import Collection

from index_store.crawl.address import SiteHost, is_called_sign_in, is_called_sign_in_form, names_another, site_of
from index_store.crawl.answers.links import PageOutline
from index_store.crawl.errors import PageBehindSignIn
from index_store.crawl.frontier import CrawlVisit


class SignIns:
    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._led_to: dict[str, list[CrawlVisit]] = defaultdict(list)
        """address that is called a form, and is asked for already -> pages that redirect there"""

    def refuse_form_for_page(self, visit: CrawlVisit) -> None:
        """Raises PageBehindSignIn if a page has led to a form that is known."""
        if visit.chain and visit.url in self._forms:
            raise PageBehindSignIn(url=visit.first)

    def refuse_move(self, visit: CrawlVisit, target: str, sites: Collection[SiteHost]) -> None:
        """Raises PageBehindSignIn if the page leads to a form that is known, or on another host than the `sites` of
        the crawl, and returns from there.
        """
        is_elsewhere = site_of(target) not in sites and names_another(target)
        if _leads_to_form(visit, target) and (is_elsewhere or target in self._forms):
            raise PageBehindSignIn(url=visit.first)

    def note_move(self, visit: CrawlVisit, target: str) -> None:
        """For a move to an address that is asked for already: should that be a form, `take_led_to` has the page."""
        if _leads_to_form(visit, target):
            self._led_to[target].append(visit.moved_to(target))

    def is_form_for_another(self, visit: CrawlVisit, outline: PageOutline) -> bool:
        """Whether it is a form that leads on to another page, and so no page of its own. Raises PageBehindSignIn if it
        came in place of the page that was asked for.
        """
        # Some forms ask for the password only after the name.
        is_form = outline.asks_password or (visit.chain and is_called_sign_in(visit.url))
        if is_form and names_another(visit.url):
            # Each page would bring its own copy of the form.
            if visit.chain or visit.is_start:
                raise PageBehindSignIn(url=visit.first)
            if is_called_sign_in(visit.url):
                return True
        if outline.asks_password and is_called_sign_in_form(visit.url):
            self._forms.add(visit.url)
            if visit.chain and _leads_to_form(visit, visit.url):
                # A form without such a parameter: its server remembers the page.
                raise PageBehindSignIn(url=visit.first)
        return False

    def take_led_to(self, url: str) -> list[CrawlVisit]:
        """Once the address was read: the pages that have led to it, if it is a form."""
        return self._led_to.pop(url, []) if url in self._forms else []


def _leads_to_form(visit: CrawlVisit, target: str) -> bool:
    return is_called_sign_in_form(target) and not is_called_sign_in_form(visit.first)

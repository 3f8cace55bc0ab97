"""The cookies of a crawl, for sites that lead in a circle those who bring none back.

They go back only to the origin that set them, and only after it has led in a circle: a cookie that no page needs could
choose the language of all later pages.
"""

from index_store.crawl.address import origin_of
from index_store.crawl.requests.fetch import FetchResponse

SIZE = 4096
"""characters of all cookies of an origin, as in most browsers of one of them"""


class Cookies:
    def __init__(self) -> None:
        self._set: dict[str, dict[str, str]] = {}
        """origin -> name -> value, as its redirects set them"""
        self._sent: dict[str, str] = {}
        """origin -> the header that it gets"""

    def note(self, redirect: FetchResponse) -> None:
        """Notes what a redirect sets; too much, or what no header may hold, is left out."""
        cookies = self._set.setdefault(origin_of(redirect.url), {})
        for line in redirect.headers.get_list("set-cookie"):
            name, _, value = (part.strip() for part in line.partition(";")[0].partition("="))
            if name and f"{name}{value}".isascii() and f"{name}{value}".isprintable():
                others = {other: given for other, given in cookies.items() if other != name}
                if len(_header(others | {name: value})) <= SIZE:
                    cookies[name] = value

    def bring(self, url: str) -> bool:
        """From now on, the origin of this address gets what it has set; False if that is nothing."""
        origin = origin_of(url)
        self._sent[origin] = _header(self._set.get(origin, {}))
        return bool(self._sent[origin])

    def header(self, url: str) -> dict[str, str]:
        """What a request for this address says of them; empty if nothing."""
        sent = self._sent.get(origin_of(url))
        return {"Cookie": sent} if sent else {}


def _header(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())

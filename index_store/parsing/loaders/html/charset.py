"""The charset that a page declares."""

import re

HEAD = 4096
"""bytes in which a page declares it"""

_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)


def declared_charset(page: bytes) -> str | None:
    """Only the beginning is read."""
    found = _CHARSET.search(page, 0, HEAD)
    return found[1].decode("ascii") if found else None

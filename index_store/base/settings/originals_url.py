"""Splits ORIGINALS_URL into its parts."""

from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

PARAMETERS = frozenset({"endpoint_url", "region", "key", "secret"})
"""parameters that an address of S3 may have; the names are those of s3fs, except `region`"""


class OriginalsUrl(NamedTuple):
    bucket: str
    """empty if it is a folder"""
    prefix: str
    """without slashes around it"""
    folder: Path
    """if it is one"""
    parameters: dict[str, str]

    @classmethod
    def of(cls, url: str) -> "OriginalsUrl":
        """Raises ValueError."""
        parts = urlsplit(url)
        if parts.fragment or "@" in parts.netloc:
            raise ValueError
        path = unquote(parts.path)
        match parts.scheme:
            case "file" if not parts.netloc and path.strip("/") and not parts.query:
                return cls("", "", Path(path), {})
            case "s3" if parts.netloc:
                # Not parse_qs, which reads the + of a key as a space.
                pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
                parameters = {name: unquote(value) for name, _, value in pairs}
                endpoint = urlsplit(parameters.get("endpoint_url", "https://s3.amazonaws.com"))
                is_address = endpoint.scheme in ("http", "https") and endpoint.hostname and endpoint.port != 0
                if parameters.keys() <= PARAMETERS and all(parameters.values()) and is_address:
                    return cls(parts.netloc, path.strip("/"), Path(), parameters)
        raise ValueError

"""The address of a service: what of it may be shown, and its parts for a client."""

from urllib.parse import parse_qsl, urlsplit

OPENAI_URL = "https://api.openai.com/v1"


def host_of(base_url: str | None) -> str:
    """Only host and port: an address may hold a user name, a password or a key."""
    parts = urlsplit(base_url or OPENAI_URL)
    host = parts.hostname or "?"
    return f"{host}:{parts.port}" if parts.port else host


def base_and_query(address: str) -> tuple[str, dict[str, str]]:
    """For a client, which would put its paths behind the query. Gateways of Azure need one: ?api-version=2024-10-21"""
    parts = urlsplit(address)
    return parts._replace(query="").geturl(), dict(parse_qsl(parts.query))

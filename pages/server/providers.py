"""The OpenID providers for sign-in: from the settings, and in the form that Streamlit needs."""

import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, SecretStr, TypeAdapter, field_validator

CALLBACK = "/oauth2callback"
"""path of Streamlit; register it at each provider, after the app's address"""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
TIMEOUT = 10
"""seconds for each answer of a provider; only the browser that signs in waits"""


class Provider(BaseModel, frozen=True, extra="forbid"):
    name: str
    """shown on its button"""
    issuer: str
    """as in the provider's own metadata, which are found below this address"""
    client_id: str
    client_secret: SecretStr
    scope: str = "openid email profile"
    groups_claim: str = "groups"
    """claim in the ID token with a list of group names"""
    prompt: str = ""
    """such as select_account or login; empty: a person who is signed in there is not asked again"""

    @field_validator("name", "client_id")
    @classmethod
    def _is_there(cls, text: str) -> str:
        if not text.strip():
            raise ValueError
        return text.strip()

    @field_validator("issuer")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        _split_private_address(url.strip())
        return url.strip()


def read_providers(written: str) -> tuple[Provider, ...]:
    """`written`: a JSON list. Raises ValueError."""
    return _PROVIDERS.validate_json(written) if written.strip() else ()


_PROVIDERS = TypeAdapter(tuple[Provider, ...])


def without_path(url: str) -> str:
    """scheme://host:port of an address that has no other parts. Raises ValueError."""
    parts = _split_private_address(url.strip())
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _split_private_address(url: str) -> SplitResult:
    """The parts of an address. Raises ValueError if others could read what is sent to it."""
    parts = urlsplit(url)
    _ = parts.port
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        raise ValueError
    return parts


def provider_key(number: int) -> str:
    """The name of a provider for Streamlit. No underscore, because Streamlit and Authlib split names there."""
    return f"provider{number}"


def for_streamlit(app_url: str, providers: Sequence[Provider], cookie_secret: str = "") -> dict[str, Any]:
    """The content of Streamlit's `secrets.toml`, passed in process so that it is not written to disk. {} without
    providers.

    `cookie_secret`: the same for all replicas; if empty, one for this process. A sign-in is valid because index_store
    has it, not because of a signature. But during a sign-in, the browser shows a cookie that another replica may have
    signed.
    """
    if not providers:
        return {}
    sections = {
        provider_key(number): {
            "client_id": each.client_id,
            "client_secret": each.client_secret.get_secret_value(),
            "server_metadata_url": each.issuer.rstrip("/") + "/.well-known/openid-configuration",
            # An empty `prompt` counts as none (RFC 6749, 3.1); without one Streamlit would say select_account.
            "client_kwargs": {"scope": each.scope, "prompt": each.prompt, "timeout": TIMEOUT},
        }
        for number, each in enumerate(providers)
    }
    cookie_secret = cookie_secret or secrets.token_urlsafe(32)
    return {"auth": {"redirect_uri": app_url + CALLBACK, "cookie_secret": cookie_secret, **sections}}

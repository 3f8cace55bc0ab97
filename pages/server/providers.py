"""The OpenID providers for sign-in: from the settings, and in the form that Streamlit needs."""

import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, TypeAdapter, field_validator

CALLBACK = "/oauth2callback"
"""Streamlit's; to be registered at each provider, behind the app's own address"""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
TIMEOUT = 10
"""seconds for each answer of a provider; the browser waits meanwhile, and nobody else"""


class Provider(BaseModel, frozen=True, extra="forbid"):
    name: str
    """on its button"""
    issuer: str
    """as the provider's own metadata has it, which stand below it"""
    client_id: str
    client_secret: SecretStr
    scope: str = "openid email profile"
    groups_claim: str = "groups"
    """of the ID token: a list of names"""
    prompt: str = ""
    """such as select_account or login; empty: whoever is signed in there is not asked again"""

    @field_validator("name", "client_id")
    @classmethod
    def _is_there(cls, text: str) -> str:
        if not text.strip():
            raise ValueError
        return text.strip()

    @field_validator("issuer")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        _check_private(url.strip())
        return url.strip()


def read_providers(written: str) -> tuple[Provider, ...]:
    """Of a list in JSON. Raises ValueError."""
    return _PROVIDERS.validate_json(written) if written.strip() else ()


_PROVIDERS = TypeAdapter(tuple[Provider, ...])


def without_path(url: str) -> str:
    """scheme://host:port of an address which has no more. Raises ValueError."""
    parts = _check_private(url.strip())
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _check_private(url: str) -> Any:
    """Raises ValueError where what is said to this address could be read on the way."""
    parts = urlsplit(url)
    _ = parts.port
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        raise ValueError
    return parts


def key(number: int) -> str:
    """By which Streamlit knows a provider. No underscore: it and Authlib cut keys there."""
    return f"provider{number}"


def for_streamlit(app_url: str, providers: Sequence[Provider], cookie_secret: str = "") -> dict[str, Any]:
    """What stands in `secrets.toml` otherwise: given in process, so nothing of it is written to a disk. {} for none.

    `cookie_secret`: of all replicas, one of this process unless it is given. A sign-in counts because index_store keeps
    it, and not by its signature; but who has begun to sign in shows a cookie of the replica that sent them.
    """
    if not providers:
        return {}
    sections = {
        key(number): {
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

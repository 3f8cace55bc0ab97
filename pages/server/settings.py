"""The settings of the server; the others are in rag/settings.py."""

import re
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

import rag.settings
from index_store.base.errors import InvalidSetting
from index_store.base.settings.plain_settings import PlainSettings, names_in
from pages.server.providers import Provider, read_providers, without_path
from pages.server.requests.gate import host_name
from pages.server.requests.proxies import Network, read_networks

PROVIDERS = (
    'a JSON list of providers, such as [{"name": "Example", "issuer": "https://id.example.com", "client_id": "…", '
    '"client_secret": "…"}], each issuer with https unless on this machine',
    'プロバイダーの JSON 配列(例: [{"name": "Example", "issuer": "https://id.example.com", "client_id": "…", '
    '"client_secret": "…"}]。issuer はこの PC 上でなければ https)',
)
APP_URL = (
    "the address under which the browser opens the app, such as https://rag.example.com, with https unless on this "
    "machine, and without a path",
    "ブラウザーでアプリを開くアドレス(例: https://rag.example.com。この PC 上でなければ https、パスは不要)",
)
SECRET_LENGTH = 32
"""characters, at least"""

HEADER = ("the name of a header, such as Remote-User", "ヘッダー名(例: Remote-User)")


_HEADER_NAME = r"^[A-Za-z0-9-]+$"  # the syntax of the regex crate, where $ matches only at the end


class ServerSettings(PlainSettings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = {
        "allowed_hosts": (
            "host names or IP addresses separated by commas, without http:// and port",
            "カンマで区切ったホスト名または IP アドレス(http:// とポートは不要)",
        ),
        "trusted_proxies": (
            "IP addresses or networks separated by commas, such as 127.0.0.1,10.1.0.0/24, but not all addresses",
            "カンマで区切った IP アドレスまたはネットワーク(例: 127.0.0.1,10.1.0.0/24。全アドレスは不可)",
        ),
        "allow_anonymous": ("true or false", "true または false"),
        "auth": ("none, oidc or header", "none・oidc・header のいずれか"),
        "app_url": APP_URL,
        "oidc_providers": PROVIDERS,
        "cookie_secret": ("a random text of at least 32 characters", "32 文字以上のランダムな文字列"),
        "sign_in_hours": ("a number of hours from above 0 to 720", "0 より大きく 720 以下の時間数"),
        "auth_user_header": HEADER,
        "auth_name_header": HEADER,
        "auth_mail_header": HEADER,
        "auth_groups_header": HEADER,
    }

    allowed_hosts: str = ""
    """host names of the app besides those of loopback, separated by commas"""
    trusted_proxies: str = ""
    """addresses and networks of reverse proxies, separated by commas"""
    allow_anonymous: bool = False
    """whether other machines may reach the app without sign-in"""
    auth: Literal["none", "oidc", "header"] = "none"
    """how people sign in"""
    app_url: str = ""
    """address to which a provider sends browsers back"""
    oidc_providers: SecretStr = SecretStr("")
    cookie_secret: SecretStr = SecretStr("")
    """key that signs cookies, the same for all replicas; empty: one for this process"""
    sign_in_hours: float = Field(default=12, gt=0, le=720, allow_inf_nan=False)
    auth_user_header: str = Field(default="Remote-User", pattern=_HEADER_NAME)
    """header in which a proxy says who the person is"""
    auth_name_header: str = Field(default="Remote-Name", pattern=_HEADER_NAME)
    auth_mail_header: str = Field(default="Remote-Email", pattern=_HEADER_NAME)
    auth_groups_header: str = Field(default="Remote-Groups", pattern=_HEADER_NAME)
    """separated by commas"""

    @field_validator("allowed_hosts")
    @classmethod
    def _are_names(cls, hosts: str) -> str:
        if not all(map(host_name, _parts(hosts))):
            raise ValueError
        return hosts

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, networks: str) -> str:
        read_networks(networks)
        return networks

    @field_validator("app_url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        return without_path(url) if url.strip() else ""

    @field_validator("oidc_providers")
    @classmethod
    def _are_providers(cls, written: SecretStr) -> SecretStr:
        read_providers(written.get_secret_value())
        return written

    @field_validator("cookie_secret")
    @classmethod
    def _is_no_guess(cls, secret: SecretStr) -> SecretStr:
        plain = secret.get_secret_value().strip()
        if plain and len(plain) < SECRET_LENGTH:
            raise ValueError
        return SecretStr(plain)

    @model_validator(mode="after")
    def _has_what_signing_in_needs(self) -> Self:
        oidc, header = self.auth == "oidc", self.auth == "header"
        missing = {
            "app_url": oidc and not self.app_url,
            "oidc_providers": oidc and not self.providers,
            "trusted_proxies": header and not self.trusted_proxies,
        }
        for field, is_missing in missing.items():
            if is_missing:
                en, ja = self.allowed[field]
                raise InvalidSetting(variable=field.upper(), allowed_en=en, allowed_ja=ja)
        return self

    @property
    def names(self) -> frozenset[str]:
        """Host names of the app besides loopback."""
        of_app = self.app_url.rpartition("://")[2]
        named = [*_parts(self.allowed_hosts), re.sub(r":\d+\Z", "", of_app)]
        return frozenset(filter(None, map(host_name, filter(None, named))))

    @property
    def providers(self) -> tuple[Provider, ...]:
        return read_providers(self.oidc_providers.get_secret_value())

    @property
    def sign_in_lasts(self) -> timedelta:
        return timedelta(hours=self.sign_in_hours)

    @property
    def identity_headers(self) -> frozenset[str]:
        """In lower case; empty unless a proxy signs people in."""
        named = (self.auth_user_header, self.auth_name_header, self.auth_mail_header, self.auth_groups_header)
        return frozenset(map(str.lower, named)) if self.auth == "header" else frozenset()

    @property
    def proxies(self) -> tuple[Network, ...]:
        return read_networks(self.trusted_proxies)


def _parts(hosts: str) -> list[str]:
    return [part.strip() for part in hosts.split(",") if part.strip()]


def unknown_names() -> list[str]:
    """Names in `.env` that are no settings, such as a mistyped AUTH. Nothing reads them."""
    known = rag.settings.Settings.model_fields.keys() | ServerSettings.model_fields.keys()
    return [name for name in names_in(Path(".env")) if name.lower() not in known]


@cache
def server_settings() -> ServerSettings:
    """The settings of this process, read once, because each action needs them."""
    return ServerSettings()

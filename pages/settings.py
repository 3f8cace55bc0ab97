"""What an operator may set of the server; the rest is in rag/settings.py."""

from typing import ClassVar

from pydantic import field_validator

from index_store.base.settings import PlainSettings
from pages.server.gate import host_name
from pages.server.proxies import Network, read_networks


class Settings(PlainSettings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = {
        "allowed_hosts": (
            "host names or IP addresses separated by commas, without http:// and port",
            "カンマで区切ったホスト名または IP アドレス(http:// とポートは不要)",
        ),
        "trusted_proxies": (
            "IP addresses or networks separated by commas, such as 127.0.0.1,10.1.0.0/24, and not all there are",
            "カンマで区切った IP アドレスまたはネットワーク(例: 127.0.0.1,10.1.0.0/24。全アドレスは不可)",
        ),
        "allow_anonymous": ("true or false", "true または false"),
    }

    allowed_hosts: str = ""
    """names of the app beside those of loopback, separated by commas"""
    trusted_proxies: str = ""
    """addresses and networks of reverse proxies, separated by commas"""
    allow_anonymous: bool = False
    """whether others than this machine may reach it although nobody signs in"""

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

    @property
    def names(self) -> frozenset[str]:
        return frozenset(filter(None, map(host_name, _parts(self.allowed_hosts))))

    @property
    def proxies(self) -> tuple[Network, ...]:
        return read_networks(self.trusted_proxies)


def _parts(hosts: str) -> list[str]:
    return [part.strip() for part in hosts.split(",") if part.strip()]

"""What an operator may set of the server; the rest is in rag/settings.py."""

from typing import ClassVar

from pydantic import field_validator

from index_store.base.settings import PlainSettings
from pages.gate import host_name


class Settings(PlainSettings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = {
        "allowed_hosts": (
            "host names or IP addresses separated by commas, without http:// and port",
            "カンマで区切ったホスト名または IP アドレス(http:// とポートは不要)",
        ),
    }

    allowed_hosts: str = ""
    """names of the app beside those of loopback, separated by commas"""

    @field_validator("allowed_hosts")
    @classmethod
    def _are_names(cls, hosts: str) -> str:
        if not all(map(host_name, _parts(hosts))):
            raise ValueError
        return hosts

    @property
    def names(self) -> frozenset[str]:
        return frozenset(filter(None, map(host_name, _parts(self.allowed_hosts))))


def _parts(hosts: str) -> list[str]:
    return [part.strip() for part in hosts.split(",") if part.strip()]

"""How the embedded model is reached. A loopback server takes the place of its process."""

import asyncio

import pytest

from rag.models.embedded.process import EmbeddedServer, Endpoint
from rag.models.embedded.source import EmbeddedSource
from rag.models.usage import Usage
from rag.settings import Settings
from tests.servers import OpenAIServer


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "socks5h://127.0.0.1:1"])
def test_a_proxy_for_the_outside_does_not_stand_before_the_embedded_model(data_dir, monkeypatch, proxy):
    async def ask(source: EmbeddedSource) -> tuple[str, ...]:
        found = await source.open().extract_keywords("Is snow white?", Usage(), language="en")
        await source.close()
        return found.kept

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name)
    for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "OPENAI_PROXY"):
        monkeypatch.setenv(name, proxy)
    with OpenAIServer() as server:
        server.enqueue("Search words: snow, white")
        monkeypatch.setattr(EmbeddedServer, "start", lambda _: Endpoint(server.base_url, "a-key"))
        assert asyncio.run(ask(EmbeddedSource(Settings(data_dir=data_dir)))) == ("snow", "white")

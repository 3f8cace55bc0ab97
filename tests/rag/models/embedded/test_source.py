"""How the embedded model is reached. A loopback server takes the place of its process."""

import asyncio

import pytest

from index_store.base.errors import PlainError
from rag.errors import PASSING
from rag.models.calls.usage import Usage
from rag.models.embedded import source as source_module
from rag.models.embedded.process import EmbeddedServer, Endpoint
from rag.models.embedded.source import EmbeddedSource
from rag.settings import Settings
from rag.trace.events import Style
from tests.rag.passages import PASSAGES
from tests.servers import Fault, OpenAIServer, Refusal


@pytest.mark.parametrize("proxy", [pytest.param("http://127.0.0.1:1", marks=pytest.mark.soak), "socks5h://127.0.0.1:1"])
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


def fault_of(data_dir, base_url: str) -> PlainError:
    """What an answer of the model at this address ends with."""

    async def ask() -> None:
        source = EmbeddedSource(Settings(data_dir=data_dir))
        try:
            async for _ in source.open().answer("日当は?", PASSAGES, Usage(), language="ja", style=Style()):
                pass
        finally:
            await source.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmbeddedServer, "start", lambda _: Endpoint(base_url, "a-key"))
        with pytest.raises(PASSING) as told:
            asyncio.run(ask())
    return told.value


def test_a_fault_of_the_embedded_model_is_not_told_as_one_of_a_service(data_dir, monkeypatch):
    monkeypatch.setattr(source_module, "TIMEOUT", 0.5)
    too_long = Refusal(400, code="exceed_context_size")
    faults = {
        Fault.CLOSES: "memory",
        Fault.CLOSES_MIDWAY: "memory",
        Fault.MALFORMED: "memory",
        Refusal(500): "memory",
        Fault.HANGS: "within 0.5 seconds",
        too_long: "chunks instead of sections",
    }
    with OpenAIServer() as server:
        for fault, said in faults.items():
            server.default = fault
            error = fault_of(data_dir, server.base_url)
            assert said in error.sentence("en")
            for sentence in (error.sentence("en"), error.sentence("ja")):
                assert not any(each in sentence for each in ("127.0.0.1", "OPENAI_BASE_URL", "MODEL_"))
    assert "memory" in fault_of(data_dir, server.base_url).sentence("en")  # it has ended

"""Which chat model the settings select."""

import asyncio

import pytest

from rag.errors import NoChatModel
from rag.models import registry
from rag.models.embedded.source import EmbeddedSource
from rag.models.registry import model_source
from rag.models.service.source import ServiceSource
from rag.settings import EMBEDDED, Settings
from tests.rag.conftest import KEY


@pytest.mark.parametrize(
    ("values", "source"),
    [
        ({}, EmbeddedSource),
        ({"openai_api_key": KEY}, ServiceSource),
        ({"openai_base_url": "http://127.0.0.1:1/v1"}, ServiceSource),
        ({"openai_api_key": KEY, "chat_model": "embedded"}, EmbeddedSource),
    ],
    ids=["nothing set", "a key", "an address alone", "a key, but the embedded model named"],
)
def test_a_service_is_asked_where_one_is_set_and_the_embedded_model_is_not_named(data_dir, values, source):
    models = model_source(Settings(data_dir=data_dir, **values))
    assert type(models) is source
    assert models.is_ready() is (source is ServiceSource)
    asyncio.run(models.close())


def test_a_service_suggests_questions_and_the_embedded_model_only_where_it_is_told_to():
    assert (ServiceSource.suggests, EmbeddedSource.suggests) == (True, False)


def test_a_configured_embedded_model_is_named_after_its_file(data_dir, tmp_path):
    models = model_source(Settings(data_dir=data_dir, embedded_model=tmp_path / "mine.gguf"))
    assert models.name == "mine"
    asyncio.run(models.close())


def test_where_no_model_comes_with_the_installation_one_has_to_be_set(data_dir, monkeypatch):
    monkeypatch.delitem(registry.SOURCES, EMBEDDED)
    with pytest.raises(NoChatModel, match="OPENAI_API_KEY"):
        model_source(Settings(data_dir=data_dir))

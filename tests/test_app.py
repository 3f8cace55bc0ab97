"""The start and the end of the server. In `make soak`, browser/server/test_gate.py really starts it like this."""

import asyncio
from pathlib import Path

import pytest

import app
from index_store.base.settings.settings import Settings as StoreSettings
from index_store.ingestion.sources import FileSource
from index_store.ingestion.stages import embedding
from index_store.store.index_store import IndexStore
from pages.server import process
from pages.server.requests.gate import BelowTheRoot, NotForOthers
from pages.server.requests.proxies import OtherProxies
from pages.server.settings import ServerSettings
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService


def statuses() -> list[str]:
    return [each.status for each in process._engine.store.documents("a")] if process._engine else []


async def until_ready() -> None:
    async with app.lifespan(app.app), asyncio.timeout(120):
        while statuses() != ["ready"]:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({}, NotForOthers(address="0.0.0.0")),
        ({"allow_anonymous": True, "trusted_proxies": "127.0.0.1"}, OtherProxies()),
    ],
)
def test_settings_that_open_the_app_to_others_by_mistake_are_refused_in_both_languages(monkeypatch, settings, error):
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    monkeypatch.setattr(app, "server_settings", lambda: ServerSettings(**settings))
    monkeypatch.setattr(app.config, "get_option", {"server.address": "0.0.0.0", "server.baseUrlPath": ""}.get)
    with pytest.raises(SystemExit) as caught:
        app.middlewares()
    assert caught.value.code == f"{error.sentence('en')}\n{error.sentence('ja')}"
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    monkeypatch.setattr(app.config, "get_option", {"server.address": "127.0.0.1", "server.baseUrlPath": ""}.get)
    assert app.middlewares()


def test_a_path_below_which_no_sign_in_would_be_asked_for_is_refused(monkeypatch):
    options = {"server.address": "127.0.0.1", "server.baseUrlPath": "/kb/"}
    monkeypatch.setattr(app.config, "get_option", options.get)
    with pytest.raises(SystemExit) as caught:
        app.middlewares()
    assert caught.value.code == f"{BelowTheRoot().sentence('en')}\n{BelowTheRoot().sentence('ja')}"
    options["server.baseUrlPath"] = "/"  # the root, written with a slash
    assert app.middlewares()


def test_a_mistyped_name_in_the_env_file_is_told_in_the_log_without_its_value(data_dir, caplog):
    Path(".env").write_text("AUHT=header\nadmins=anna@example.com\nCRAWL_RATE=2\n#AUTO=1\nOPENAI_KEY='sk-secret'\n")
    assert app.middlewares()
    assert caplog.messages == ["Names in .env that are no settings are ignored: AUHT, OPENAI_KEY"]


def test_what_was_left_goes_on_before_anybody_opens_a_page_and_after_the_end_no_page_opens_the_data_again(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PATIENCE", 0.1)
    file = tmp_path / "a.md"
    file.write_text("# A\n\nThe green car.\n", encoding="utf-8")
    with EmbeddingService() as service:
        service_settings = {"openai_base_url": service.base_url, "openai_api_key": "sk-a", "embedding_model": "model-a"}
        service.is_held = True
        with IndexStore(StoreSettings(data_dir=data_dir, **service_settings)) as store:
            store.ingest("a", [FileSource(file)])
            assert eventually(lambda: service.calls)
        service.is_held = False
        for name, value in service_settings.items():
            monkeypatch.setenv(name.upper(), value)
        monkeypatch.setattr(process, "_engine", None)
        monkeypatch.setattr(process, "_is_over", False)
        asyncio.run(until_ready())
    with pytest.raises(process.Ending):  # as where a page is still drawn
        process.whole_engine()

"""The start of the server. tests/browser/test_gate.py starts it really with one such setting."""

import pytest

import app
from pages.server.gate import NotForOthers
from pages.server.proxies import OtherProxies
from pages.server.settings import Settings


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({}, NotForOthers(address="0.0.0.0")),
        ({"allow_anonymous": True, "trusted_proxies": "127.0.0.1"}, OtherProxies()),
    ],
)
def test_settings_that_open_the_app_to_others_by_mistake_are_refused_in_both_languages(monkeypatch, settings, error):
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    monkeypatch.setattr(app, "server_settings", lambda: Settings(**settings))
    monkeypatch.setattr(app.config, "get_option", {"server.address": "0.0.0.0"}.__getitem__)
    with pytest.raises(SystemExit) as caught:
        app.middlewares()
    assert caught.value.code == f"{error.sentence('en')}\n{error.sentence('ja')}"
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    monkeypatch.setattr(app.config, "get_option", {"server.address": "127.0.0.1"}.__getitem__)
    assert app.middlewares()

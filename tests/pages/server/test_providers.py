"""OpenID providers: how they are read from the settings, and what Streamlit gets."""

import json

import pytest

from index_store.base.errors import InvalidSetting
from pages.server.providers import for_streamlit, read_providers
from pages.server.settings import ServerSettings

ONE = {"name": "Example", "issuer": "https://id.example.com/realm", "client_id": "c", "client_secret": "very-secret"}


def written(**changed: object) -> str:
    return json.dumps([{**ONE, **changed}])


def test_streamlit_is_told_of_each_provider_without_a_file():
    told = for_streamlit("https://rag.example.com", read_providers(json.dumps([ONE, {**ONE, "prompt": "login"}])))
    assert told["auth"]["redirect_uri"] == "https://rag.example.com/oauth2callback"
    assert told["auth"]["provider0"] == {
        "client_id": "c",
        "client_secret": "very-secret",
        "server_metadata_url": "https://id.example.com/realm/.well-known/openid-configuration",
        "client_kwargs": {"scope": "openid email profile", "prompt": "", "timeout": 10},
    }
    assert told["auth"]["provider1"]["client_kwargs"]["prompt"] == "login"
    assert len(told["auth"]["cookie_secret"]) >= 32


def test_all_replicas_sign_with_the_secret_that_they_are_given():
    assert for_streamlit("https://a.example", read_providers(json.dumps([ONE])), "s" * 32)["auth"]["cookie_secret"] == (
        "s" * 32
    )
    with pytest.raises(InvalidSetting, match="COOKIE_SECRET") as caught:
        ServerSettings(cookie_secret="short-one")
    assert "short-one" not in str(caught.value)
    assert ServerSettings(cookie_secret=" ").cookie_secret.get_secret_value() == ""


def test_without_a_provider_it_is_told_nothing():
    assert for_streamlit("", ()) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        "Example",
        '{"name": "Example"}',
        written(issuer="http://id.example.com"),
        written(issuer="id.example.com"),
        written(issuer="https://"),
        written(client_id=" "),
        written(colour="red"),
        written(issuer="https://id.example.com:x"),
    ],
)
def test_what_is_no_list_of_providers_is_refused_and_its_secret_not_repeated(wrong):
    with pytest.raises(InvalidSetting, match="OIDC_PROVIDERS") as caught:
        ServerSettings(oidc_providers=wrong)
    assert "very-secret" not in str(caught.value)


def test_a_provider_on_this_machine_needs_no_tls():
    [provider] = read_providers(written(issuer="http://127.0.0.1:9000"))
    assert provider.issuer == "http://127.0.0.1:9000"

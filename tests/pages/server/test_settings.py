"""The settings of the server, as an operator may write them: what is accepted, and what is refused."""

from ipaddress import ip_network

import pytest

from index_store.base.errors import InvalidSetting
from pages.server.settings import ServerSettings


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("", set()),
        (" , ", set()),
        ("RAG.example.com., 192.168.0.12 ,[2001:DB8:0::7]", {"rag.example.com", "192.168.0.12", "[2001:db8::7]"}),
        ("文書.example", {"xn--7dvz5a.example"}),
    ],
)
def test_names_are_read_as_browsers_send_them(written, names):
    assert ServerSettings(allowed_hosts=written).names == names


@pytest.mark.parametrize(
    "written",
    [
        "https://rag.example.com",
        "rag.example.com:8501",
        "rag.example.com/app",
        "a b",
        "rag.example.com、b.example",
        "rag.example.com，b.example",
        "rag.example.com;b.example",
        "*",
        "*.example.com",
        "me@a.example",
        "2001:db8::7",
        "rag.example.com, [::",
    ],
)
def test_what_is_no_name_is_refused_and_not_repeated(written):
    with pytest.raises(InvalidSetting, match="ALLOWED_HOSTS") as caught:
        ServerSettings(allowed_hosts=written)
    assert written not in str(caught.value)


def test_proxies_are_addresses_and_networks_and_there_are_none_unless_they_are_set():
    assert ServerSettings().proxies == ()
    proxies = ServerSettings(trusted_proxies="127.0.0.1, 10.1.0.0/24,::1").proxies
    assert proxies == tuple(map(ip_network, ("127.0.0.1/32", "10.1.0.0/24", "::1/128")))


@pytest.mark.parametrize("written", ["rag.example.com", "0.0.0.0/0", "10.1.2.3/8"])
def test_what_is_no_network_of_proxies_is_refused_and_not_repeated(written):
    with pytest.raises(InvalidSetting, match="TRUSTED_PROXIES") as caught:
        ServerSettings(trusted_proxies=written)
    assert written not in str(caught.value)


@pytest.mark.parametrize(
    ("auth", "missing"), [("oidc", "APP_URL"), ("header", "TRUSTED_PROXIES"), ("everybody", "AUTH")]
)
def test_a_way_to_sign_in_asks_for_what_it_needs(auth, missing):
    with pytest.raises(InvalidSetting, match=missing):
        ServerSettings(auth=auth)


def test_oidc_without_a_provider_is_refused():
    with pytest.raises(InvalidSetting, match="OIDC_PROVIDERS"):
        ServerSettings(auth="oidc", app_url="https://rag.example.com")


@pytest.mark.parametrize(
    "written",
    ["http://rag.example.com", "rag.example.com", "https://rag.example.com/app", "https://me@rag.example.com"],
)
def test_what_is_no_address_of_the_app_or_has_no_tls_is_refused(written):
    with pytest.raises(InvalidSetting, match="APP_URL"):
        ServerSettings(app_url=written)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("https://RAG.example.com/", "rag.example.com"),
        ("https://rag.example.com:8443", "rag.example.com"),
        ("http://localhost:8501", "localhost"),
        ("https://[2001:db8::7]:8443", "[2001:db8::7]"),
    ],
)
def test_the_address_of_the_app_is_one_of_its_names(written, name):
    assert ServerSettings(app_url=written).names == {name}


def test_only_where_a_proxy_signs_people_in_are_its_headers_those_of_somebody():
    assert ServerSettings().identity_headers == frozenset()
    by_proxy = ServerSettings(auth="header", trusted_proxies="127.0.0.1", auth_user_header="X-Forwarded-User")
    assert by_proxy.identity_headers == {"x-forwarded-user", "remote-name", "remote-email", "remote-groups"}


def test_a_header_whose_name_has_other_signs_is_refused():
    with pytest.raises(InvalidSetting, match="AUTH_USER_HEADER"):
        ServerSettings(auth_user_header="Remote-User:\n")

"""Settings of the server, read as an operator may write them."""

from ipaddress import ip_network

import pytest

from index_store.base.errors import InvalidSetting
from pages.settings import Settings


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
    assert Settings(allowed_hosts=written).names == names


@pytest.mark.parametrize(
    "written",
    [
        "https://rag.example.com",
        "rag.example.com:8501",
        "rag.example.com/app",
        "a b",
        "*",
        "*.example.com",
        "me@a.example",
        "2001:db8::7",
        "rag.example.com, [::",
    ],
)
def test_what_is_no_name_is_refused_and_not_repeated(written):
    with pytest.raises(InvalidSetting, match="ALLOWED_HOSTS") as caught:
        Settings(allowed_hosts=written)
    assert written not in str(caught.value)


def test_proxies_are_addresses_and_networks_and_there_are_none_unless_they_are_set():
    assert Settings().proxies == ()
    proxies = Settings(trusted_proxies="127.0.0.1, 10.1.0.0/24,::1").proxies
    assert proxies == tuple(map(ip_network, ("127.0.0.1/32", "10.1.0.0/24", "::1/128")))


@pytest.mark.parametrize("written", ["rag.example.com", "0.0.0.0/0", "10.1.2.3/8"])
def test_what_is_no_network_of_proxies_is_refused_and_not_repeated(written):
    with pytest.raises(InvalidSetting, match="TRUSTED_PROXIES") as caught:
        Settings(trusted_proxies=written)
    assert written not in str(caught.value)

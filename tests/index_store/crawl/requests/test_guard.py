"""The crawler never connects to an address inside the network: in any form, by any name, after any redirect."""

import asyncio
import ssl
from collections.abc import Iterator

import httpcore2
import pytest
import trustme

from index_store.base.errors import InvalidSetting
from index_store.crawl import CrawlOptions, PageOutcome
from index_store.crawl.errors import AddressWithPassword, BadAddress
from index_store.crawl.requests.guard import resolve_by_system
from tests.index_store.crawl.conftest import PATIENCE
from tests.servers.name_server import NameServer
from tests.servers.ports import free_port
from tests.servers.site_server import SiteServer, html, moved

DISGUISES = [
    # loopback
    "http://127.0.0.1/",
    "http://127.0.0.2:8000/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://lo\tcal\nhost/",
    "http://deep.sub.localhost/",
    "http:\\\\127.0.0.1\\",
    "http:127.0.0.1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://127.0.0.1%2e/",
    "http://0x7F.0X0.0x00.0x1/",
    "http://００１７７.0.0.1/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/",
    "http://¹²⁷.⁰.⁰.¹/",
    "http://local\u00adhost/",
    "http://locaLhoſt/",
    # this host
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::ffff:0:0]/",
    # private
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://[fc00::1]/",
    "http://[fd12:3456:789a::1]/",
    "http://[::ffff:192.168.1.1]/",
    "http://[fec0::1]/",
    # link-local and metadata
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
    # reserved: no web site has them
    "http://100.64.0.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
]


@pytest.mark.parametrize("address", DISGUISES)
def test_an_address_inside_is_refused_in_every_disguise(crawl, address):
    assert "inside the network" in crawl(address, crawl_allowed="").failure


def test_there_are_enough_disguises():
    assert len(set(DISGUISES)) > 60


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "dict://127.0.0.1:11211/stats",
        "data:text/html,hello",
        "javascript:alert(1)",
        "jar:http://example.com/a.jar!/",
        "http://",
        "http://./",
        "http://exa mple.com/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://256.256.256.256/",
        "http://example.com:99999/",
        "http://example.com/" + "a" * 3000,
        "",
        "   ",
    ],
)
def test_what_is_no_address_of_a_site_is_refused_before_anything_is_asked(address):
    with pytest.raises(BadAddress):
        CrawlOptions(url=address)


@pytest.mark.parametrize("address", ["http://me:hunter2@example.com/", "http://example.com@127.0.0.1/", "http://me@h/"])
def test_an_address_with_a_user_name_is_refused_without_repeating_it(address):
    with pytest.raises(AddressWithPassword) as caught:
        CrawlOptions(url=address)
    said = caught.value.sentence("en") + caught.value.sentence("ja") + repr(caught.value)
    assert "hunter2" not in said
    assert "me@" not in said


@pytest.mark.parametrize("port", [22, 25, 6000, 6667])
def test_ports_of_other_services_are_refused_on_public_hosts(crawl, port):
    assert f"Port {port}" in crawl(f"http://1.1.1.1:{port}/", crawl_allowed="").failure


def test_a_port_of_another_service_is_open_where_the_setting_names_it_with_its_host(crawl):
    with NameServer({"odd.example": [["198.41.0.4"]]}) as names:
        url, options = "http://odd.example:6000/", {"resolve": names.resolve, "depth": 0}
        refused = crawl(url, crawl_allowed="odd.example:6001", crawl_timeout=PATIENCE, **options)
        assert "Port 6000" in refused.failure
        assert "Port" not in crawl(url, crawl_allowed="odd.example:6000", crawl_timeout=0.5, **options).failure


def test_a_name_that_leads_inside_is_refused(crawl, site):
    with NameServer({"intranet.example": [["127.0.0.1"]]}) as names:
        crawled = crawl(site.url(host="intranet.example"), resolve=names.resolve, crawl_allowed="")
    assert "intranet.example is an address inside" in crawled.failure
    assert not site.asked


def test_a_name_with_one_address_inside_among_public_ones_is_refused(crawl, site):
    with NameServer({"mixed.example": [["93.184.215.14", "127.0.0.1"]]}) as names:
        crawled = crawl(site.url(host="mixed.example"), resolve=names.resolve, crawl_allowed="")
    assert "inside the network" in crawled.failure
    assert not site.asked


def test_a_name_server_that_changes_its_answer_to_the_inside_changes_nothing(crawl, monkeypatch):
    """First a public address, then one inside: the crawler connects to the public one, where nothing answers."""
    tried = []

    async def nothing_answers(_: httpcore2.AnyIOBackend, address: str, *_rest: object) -> None:
        tried.append(address)
        raise httpcore2.ConnectError("nothing answers")

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", nothing_answers)
    with SiteServer() as inside, NameServer({"rebind.example": [["198.41.0.4"], ["127.0.0.1"]]}) as names:
        crawled = crawl(
            inside.url(host="rebind.example"), resolve=names.resolve, crawl_allowed="", crawl_timeout=PATIENCE, depth=0
        )
        assert crawled.only.outcome is PageOutcome.FAILED
        assert tried == ["198.41.0.4"]
        assert not inside.asked
        assert names.asked.count("rebind.example") == 1


def test_a_name_that_moves_inside_during_the_crawl_is_refused_from_then_on(crawl):
    """The same with real connections: the crawl may use the first address, but not the second."""
    port = free_port()
    with (
        SiteServer(address="127.0.0.2", port=port) as outside,
        SiteServer(address="127.0.0.1", port=port) as inside,
        NameServer({"rebind.example": [["127.0.0.2"], ["127.0.0.1"]]}) as names,
    ):
        closing = {"Connection": "close"}  # so that every page needs a new connection
        outside.pages = {
            "/robots.txt": html("none"),
            "/": html("Outside", "/secret"),
            "/secret": html("Outside"),
        }
        outside.pages = {path: reply.__class__(reply.body, headers=closing) for path, reply in outside.pages.items()}
        inside.pages = {"/": html("Inside"), "/secret": html("Inside")}
        crawled = crawl(
            outside.url(host="rebind.example"), resolve=names.resolve, crawl_allowed="127.0.0.2", crawl_at_once=1
        )
        assert not inside.asked
        assert outside.paths == ["/robots.txt"]
        assert "inside the network" in crawled.failure


def test_the_address_that_was_checked_is_the_one_that_is_used_with_the_hosts_name(crawl):
    with SiteServer(address="127.0.0.2") as site, NameServer({"wiki.example": [["127.0.0.2"]]}) as names:
        site.pages["/"] = html("Wiki")
        crawled = crawl(site.url(host="wiki.example"), resolve=names.resolve, crawl_allowed="127.0.0.2")
        assert crawled.fetched == [site.url(host="wiki.example")]
        assert site.asked[0].headers["host"] == f"wiki.example:{site.port}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_the_inside_is_refused(crawl, status):
    with SiteServer(address="127.0.0.2") as inside, SiteServer() as site:
        inside.pages["/"] = html("Inside")
        site.pages["/"] = moved(inside.url(), status)
        assert "127.0.0.2 is an address inside" in crawl(site.url(), crawl_allowed="127.0.0.1").failure
        assert not inside.asked


def test_redirects_of_linked_pages_robots_and_site_map_to_the_inside_are_not_followed(crawl):
    with SiteServer(address="127.0.0.2") as inside, SiteServer() as site:
        refresh = f'<meta http-equiv="refresh" content="0; url={inside.url("/refresh")}">'
        site.pages = {
            "/robots.txt": moved(inside.url("/robots.txt")),
            "/sitemap.xml": moved(inside.url("/sitemap.xml")),
            "/": html("Home", "/a", "/b", inside.url("/link")),
            "/a": moved(inside.url("/a")),
            "/b": html("B", head=refresh),
        }
        crawl(site.url(), crawl_allowed="127.0.0.1")
        assert not inside.asked


def test_a_redirect_to_what_is_not_the_web_fails_with_a_sentence(crawl, site):
    site.pages["/"] = moved("file:///etc/passwd")
    assert "redirects to an address that can't be fetched" in crawl(site.url()).failure


def test_a_proxy_of_the_environment_is_not_used(crawl, site, monkeypatch):
    with SiteServer() as proxy:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url())
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        site.pages["/"] = html("Home")
        assert crawl(site.url()).fetched == [site.url()]
        assert not proxy.asked


@pytest.mark.parametrize(
    "allowed",
    [
        "127.0.0.1",
        "127.0.0.0/8",
        "127.0.0.1:{port}",
        "localhost",
        "LocalHost:{port}",
        "10.0.0.0/8, localhost wiki.example",
        "::1/128,localhost:{port}",
    ],
)
def test_what_the_setting_names_may_be_crawled(crawl, site, allowed):
    site.pages["/"] = html("Home")
    address = site.url(host="localhost" if "ocal" in allowed else None)
    assert crawl(address, crawl_allowed=allowed.format(port=site.port)).fetched == [address]


@pytest.mark.parametrize(
    "allowed",
    ["127.0.0.2", "10.0.0.0/8", "127.0.0.1:1", "localhost", "example.com", "127.0.0.2/31:80, 0.0.0.0"],
)
def test_what_the_setting_does_not_name_stays_closed(crawl, site, allowed):
    if ":80" in allowed:
        with pytest.raises(InvalidSetting, match="CRAWL_ALLOWED"):
            crawl(site.url(), crawl_allowed=allowed)
        return
    assert "inside the network" in crawl(site.url(), crawl_allowed=allowed).failure
    assert not site.asked


@pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "0.0.0.0", "224.0.0.1"])
def test_a_name_that_may_be_crawled_does_not_open_the_metadata_of_the_cloud(crawl, address):
    with NameServer({"wiki.example": [[address]]}) as names:
        crawled = crawl("http://wiki.example/", resolve=names.resolve, crawl_allowed="wiki.example")
    assert "inside the network" in crawled.failure


@pytest.mark.parametrize(
    "allowed", ["http://wiki/", "wiki、intra", "wiki，intra", "wiki;intra", "wiki:99999", "wiki:0"]
)
def test_a_setting_that_names_nothing_is_refused(crawl, allowed):
    with pytest.raises(InvalidSetting, match="CRAWL_ALLOWED"):
        crawl("http://example.com/", crawl_allowed=allowed)


def test_a_name_that_there_is_not_fails_with_its_name(crawl):
    with NameServer({}) as names:
        crawled = crawl("http://nowhere.example/", resolve=names.resolve)
    assert "There is no site named nowhere.example" in crawled.failure


def test_names_are_resolved_as_this_machine_does():
    assert "127.0.0.1" in asyncio.run(resolve_by_system("localhost", 80))
    with pytest.raises(OSError, match=r"."):
        asyncio.run(resolve_by_system("a" * 64 + ".invalid", 80))


@pytest.fixture
def authority(tmp_path, monkeypatch) -> trustme.CA:
    """A certificate authority that this machine trusts during the test."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return authority


@pytest.fixture
def secure_site(authority: trustme.CA) -> Iterator[SiteServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("wiki.example").configure_cert(context)
    with SiteServer({"/": html("Wiki")}, tls=context) as site:
        yield site


def test_a_certificate_is_checked_against_the_name_though_the_connection_goes_to_the_address(crawl, secure_site):
    with NameServer({"wiki.example": [["127.0.0.1"]]}) as names:
        crawled = crawl(secure_site.url(host="wiki.example"), resolve=names.resolve)
    assert crawled.fetched == [secure_site.url(host="wiki.example")]


def test_a_certificate_of_another_name_is_not_trusted(crawl, secure_site):
    with NameServer({"other.example": [["127.0.0.1"]]}) as names:
        crawled = crawl(secure_site.url(host="other.example"), resolve=names.resolve)
    assert "can't be verified" in crawled.failure
    assert not secure_site.asked


def test_a_certificate_of_an_unknown_authority_is_not_trusted_and_the_setting_for_one_of_a_company_is_named(
    crawl, secure_site, monkeypatch
):
    monkeypatch.delenv("SSL_CERT_FILE")
    with NameServer({"wiki.example": [["127.0.0.1"]]}) as names:
        crawled = crawl(secure_site.url(host="wiki.example"), resolve=names.resolve)
    assert "SSL_CERT_FILE" in crawled.failure
    assert "SSL_CERT_FILE" in crawled.only.error.sentence("ja")
    assert not secure_site.asked


def test_the_next_address_is_tried_when_one_does_not_answer(crawl, site):
    site.pages["/"] = html("Home")
    nobody = "127.0.0.3"
    with NameServer({"two.example": [[nobody, "127.0.0.1"]]}) as names:
        assert crawl(site.url(host="two.example"), resolve=names.resolve).fetched

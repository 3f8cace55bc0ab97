"""The person behind a request, and the claims that are read from a token or from a proxy's headers."""

import logging
from datetime import timedelta

import pytest
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from index_store.access.access import Access, open_access
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import LOCAL, Principal, Role
from index_store.base.errors import AccessWithdrawn
from index_store.base.settings.settings import Settings as StoreSettings
from pages.server.identity import NotSignedIn, claim_of_headers, claim_of_token, identify
from pages.server.providers import read_providers
from pages.server.settings import ServerSettings

DAY = timedelta(days=1)
ONE = '[{"name": "Example", "issuer": "https://id.example.com", "client_id": "c", "client_secret": "s"}]'


@pytest.fixture
def oidc() -> ServerSettings:
    return ServerSettings(auth="oidc", app_url="https://rag.example.com", oidc_providers=ONE)


@pytest.fixture
def header() -> ServerSettings:
    return ServerSettings(auth="header", trusted_proxies="127.0.0.1")


@pytest.fixture
def access(data_dir):
    with open_access(StoreSettings()) as access:
        yield access


def whose(settings: ServerSettings, access: Access, cookie: str = "", **headers: str) -> Principal:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    request = HTTPConnection({"type": "http", "headers": [*raw, (b"cookie", cookie.encode())]})
    return identify(settings, lambda: access, lambda: request.cookies, request.headers.getlist)


def test_where_nobody_signs_in_everybody_is_the_local_person_and_no_store_is_asked():
    def broken():
        raise AssertionError

    assert identify(ServerSettings(), broken, dict, Headers().getlist) is LOCAL


def test_a_browser_is_known_by_the_cookie_of_its_sign_in_and_by_no_other(oidc, access):
    anna = access.people.signed_in(SignInClaims("https://id.example.com", "anna"))
    access.sign_ins.begin(anna.id, b"random", DAY)
    assert whose(oidc, access, "other=1; _streamlit_user=random; _streamlit_user_1=x") == anna
    for wrong in ("", "other=random", "_streamlit_user=", "_streamlit_user=randoM", "_streamlit_user_1=random"):
        with pytest.raises(NotSignedIn):
            whose(oidc, access, wrong)


def test_headers_name_nobody_where_people_sign_in_with_a_provider(oidc, access):
    access.people.signed_in(SignInClaims("Remote-User", "anna"))
    with pytest.raises(NotSignedIn):
        whose(oidc, access, remote_user="anna")


def test_who_was_disabled_is_told_so(header, access):
    anna = access.people.signed_in(SignInClaims("Remote-User", "anna"))
    assert whose(header, access, remote_user="anna").id == anna.id
    access.people.disable(anna.id)
    with pytest.raises(AccessWithdrawn):
        whose(header, access, remote_user="anna")


def test_a_proxy_that_adds_its_header_to_one_that_was_sent_is_not_believed(header, access):
    access.people.signed_in(SignInClaims("Remote-User", "anna"))
    request = HTTPConnection({"type": "http", "headers": [(b"remote-user", b"anna"), (b"remote-user", b"berta")]})
    with pytest.raises(NotSignedIn):
        identify(header, lambda: access, lambda: request.cookies, request.headers.getlist)
    assert claim_of_headers(header, request.headers.getlist) is None


@pytest.mark.parametrize("groups", ["a, b,", "a|b"])  # the second one as Authentik writes them
def test_headers_are_read_as_proxies_write_them(header, groups):
    sent = {
        "remote-user": "rika",
        "remote-name": "鈴木 梨香",
        "remote-email": "r@example.com",
        "remote-groups": groups,
    }
    headers = Headers(raw=[(name.encode(), value.encode()) for name, value in sent.items()])
    claim = SignInClaims("Remote-User", "rika", "鈴木 梨香", "r@example.com", True, frozenset({"a", "b"}))
    assert claim_of_headers(header, headers.getlist) == claim


def test_behind_a_proxy_whose_only_header_is_an_address_the_setting_names_admins_by_it_in_any_case(header, data_dir):
    headers = Headers(raw=[(b"remote-user", b"Taro@Example.com")])
    with open_access(StoreSettings(admins="taro@example.com")) as access:
        access.people.signed_in(claim_of_headers(header, headers.getlist))
        assert identify(header, lambda: access, dict, headers.getlist).role is Role.ADMIN


def test_names_that_a_proxy_does_not_write_in_utf_8_make_no_two_people_one_and_the_log_says_why(header, access, caplog):
    access.people.signed_in(SignInClaims("Remote-User", "\ufffd\ufffd\ufffd\ufffd"))
    for name in ("佐藤", "加藤"):
        headers = Headers(raw=[(b"remote-user", name.encode("cp932"))])
        assert claim_of_headers(header, headers.getlist) is None
        with pytest.raises(NotSignedIn):
            identify(header, lambda: access, dict, headers.getlist)
    assert "Remote-User is not UTF-8" in caplog.text


def test_a_name_whose_last_byte_is_a_space_in_another_encoding_is_read_whole(header):
    headers = Headers(raw=[(b"remote-user", " 記者 ".encode()), (b"remote-name", "Ren\u00e0".encode())])
    claim = claim_of_headers(header, headers.getlist)
    assert (claim.subject, claim.name) == ("記者", "Ren\u00e0")


def test_groups_that_a_proxy_does_not_write_in_utf_8_give_nothing(header, caplog):
    headers = Headers(raw=[(b"remote-user", b"rika"), (b"remote-groups", "人事部, a".encode("cp932"))])
    assert claim_of_headers(header, headers.getlist) == SignInClaims("Remote-User", "rika", mail_is_verified=True)
    assert "Remote-Groups is not UTF-8" in caplog.text


@pytest.mark.parametrize(
    ("said", "groups"),
    [(["a", "b"], {"a", "b"}), ("a", {"a"}), ([], set()), (None, set()), ({"a": 1}, set()), (["a", 1], {"a", ""})],
)
def test_groups_of_a_token_may_be_a_list_or_one_name_and_nothing_else(said, groups):
    [provider] = read_providers(ONE)
    token = {"iss": "https://id.example.com", "sub": "anna", "groups": said}
    assert claim_of_token(provider, token) == SignInClaims("https://id.example.com", "anna", groups=frozenset(groups))


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ({"_claim_names": {"groups": "src1"}}, ("WARNING", "left the groups of a person out")),
        ({"_claim_names": {"other": "src1"}}, ("INFO", "has no claim groups")),
        ({"_claim_names": "groups"}, ("INFO", "has no claim groups")),
        ({}, ("INFO", "has no claim groups")),
    ],
)
def test_the_log_says_when_a_token_has_no_groups_and_whether_there_are_too_many(left_out, told, caplog):
    caplog.set_level(logging.INFO)
    [provider] = read_providers(ONE)
    assert not claim_of_token(provider, {"iss": "https://id.example.com", "sub": "anna", **left_out}).groups
    [record] = caplog.records
    level, words = told
    assert record.levelname == level
    assert words in record.getMessage()
    assert "https://id.example.com" in record.getMessage()
    assert "anna" not in record.getMessage()


@pytest.mark.parametrize("said", [True, "true", 1, None])
def test_a_mail_address_is_verified_only_if_the_provider_says_true(said):
    [provider] = read_providers(ONE)
    claim = claim_of_token(provider, {"email": "anna@example.com", "email_verified": said})
    assert claim.mail_is_verified is (said is True)

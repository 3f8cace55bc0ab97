"""Sign-in and sign-out: the middleware around Streamlit's own routes, with a certified OpenID provider."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import quote

import httpx
import pytest
from itsdangerous import URLSafeTimedSerializer
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.auth_util import encode_provider_token
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette.starlette_app import create_streamlit_middleware
from streamlit.web.server.starlette.starlette_auth_routes import create_auth_routes

from index_store.access.access import Access
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from pages.server import process
from pages.server.identity import identify, sign_in_cookie
from pages.server.providers import for_streamlit, provider_key
from pages.server.settings import ServerSettings
from pages.server.sign_in import LEEWAY, SignIn
from tests.servers.provider import OpenIdProvider

APP = "http://localhost:8501"
PEOPLE = {
    "anna": {"name": "Anna", "email": "anna@example.com", "email_verified": True, "groups": ["staff"]},
    "berta": {"name": "Berta", "groups": [str(uuid.uuid4()) for _ in range(200)]},
}
KINDS = {"right": 0, "ahead": LEEWAY, "behind": -LEEWAY, "too far ahead": LEEWAY + 60, "rogue": 0}
"""kinds of providers, and how many seconds their clocks are ahead"""

SignInWith = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def providers(request: pytest.FixtureRequest) -> Iterator[dict[str, OpenIdProvider]]:
    """Of all kinds. Those that no test of this session asks for are not started."""
    tests = [each for each in request.session.items if each.path == request.path and hasattr(each, "callspec")]
    asked = {"right", *(each.callspec.params.get("kind") for each in tests)}
    with ExitStack() as running:
        providers: dict[str, OpenIdProvider] = {}
        for kind, clock in KINDS.items():
            poses_as = providers["right"].issuer if kind == "rogue" else None
            provider = OpenIdProvider(f"{APP}/oauth2callback", PEOPLE, clock, poses_as)
            providers[kind] = running.enter_context(provider) if kind in asked else provider
        yield providers


@pytest.fixture(scope="module")
def settings(providers: dict[str, OpenIdProvider]) -> Iterator[ServerSettings]:
    with pytest.MonkeyPatch.context() as patch:
        named = json.dumps([provider.settings(kind) for kind, provider in providers.items()])
        settings = ServerSettings(auth="oidc", app_url=APP, oidc_providers=named)
        patch.setattr(secrets_singleton, "_secrets", None)
        secrets_singleton.merge_programmatic_secrets(for_streamlit(APP, settings.providers))
        yield settings
        secrets_singleton.merge_programmatic_secrets({})


@pytest.fixture
def browser(settings: ServerSettings) -> Iterator[TestClient]:
    middleware = [Middleware(SignIn, settings=settings), *create_streamlit_middleware()]
    app = Starlette(routes=create_auth_routes(""), middleware=middleware)
    with TestClient(app, base_url=APP, follow_redirects=False) as browser:
        yield browser


@pytest.fixture
def access() -> Access:
    return process.access()


@pytest.fixture
def sign_in_with(browser: TestClient) -> SignInWith:
    def sign_in_with(kind: str, login: str = "anna", **headers: str) -> httpx.Response:
        """The app's answer when the provider has sent the browser back."""
        token = encode_provider_token(provider_key(list(KINDS).index(kind)))
        answer = browser.get(f"/auth/login?provider={token}", headers=headers)
        with httpx.Client() as provider:
            form = provider.get(answer.headers["location"], follow_redirects=True)
            answer = provider.post(form.url, data={"login": login, "password": login})
            while not (to := answer.headers["location"]).startswith(APP):
                answer = provider.get(to)
        return browser.get(to)

    return sign_in_with


@pytest.mark.parametrize("kind", ["right", "ahead", pytest.param("behind", marks=pytest.mark.soak)])
def test_who_signs_in_is_known_by_the_cookie_that_the_browser_gets(sign_in_with, browser, access, kind):
    answer = sign_in_with(kind)
    assert answer.headers["location"] == "/"
    anna = access.people.find("anna@example.com") if kind == "right" else access.people.all()[-1]
    assert access.sign_ins.person_id(sign_in_cookie(browser.cookies)) == anna.id
    assert (anna.name, anna.groups) == ("Anna", ("staff",))


@pytest.mark.parametrize("kind", ["too far ahead", "rogue"])
def test_a_clock_that_is_too_far_off_or_a_provider_that_poses_as_another_signs_nobody_in(
    sign_in_with, browser, access, kind
):
    answer = sign_in_with(kind)
    assert answer.headers["location"] == "/?sign_in=failed"
    assert sign_in_cookie(browser.cookies) == b""
    assert access.people.all() == []


def test_a_sign_in_leads_back_to_the_page_that_was_asked_for(sign_in_with, browser):
    answer = sign_in_with("right", referer=f"{APP}/shared?share=abc&lang=ja&sign_in=failed")
    assert answer.headers["location"] == "/shared?share=abc&lang=ja"
    assert "came_from" not in browser.cookies


def test_a_sign_in_leads_back_to_a_search_for_a_long_question(sign_in_with, browser):
    address = f"/search?q={quote('年次有給休暇の付与日数' * 30)}"
    token = encode_provider_token(provider_key(0))
    asked = browser.get(f"/auth/login?provider={token}", headers={"referer": APP + address})
    cookies = [each.partition(";")[0] for each in asked.headers.get_list("set-cookie")]
    assert max(map(len, cookies)) < 4096  # bytes; browsers keep no longer one
    assert sign_in_with("right", referer=APP + address).headers["location"] == address


def test_a_tab_that_still_asks_to_sign_in_comes_in_by_the_sign_in_of_another_tab(sign_in_with, browser, access):
    sign_in_with("right")
    of_another = sign_in_cookie(browser.cookies)
    address = f"/auth/login?provider={encode_provider_token(provider_key(0))}"
    answer = browser.get(address, headers={"referer": f"{APP}/search?lang=ja"})
    assert answer.headers["location"] == "/search?lang=ja"
    assert sign_in_cookie(browser.cookies) == of_another
    assert access.sign_ins.person_id(of_another) is not None


def test_who_is_disabled_does_not_come_in_by_the_cookie_of_before(sign_in_with, browser, access):
    sign_in_with("right")
    access.people.add("boss", Role.ADMIN)
    access.people.disable(access.people.find("anna@example.com").id)
    answer = browser.get(f"/auth/login?provider={encode_provider_token(provider_key(0))}")
    assert answer.headers["location"] != "/"


def test_an_answer_of_the_provider_counts_once(sign_in_with, browser, access):
    answer = sign_in_with("right")
    browser.cookies.clear()
    assert browser.get(str(answer.request.url)).headers["location"] == "/?sign_in=failed"
    assert sign_in_cookie(browser.cookies) == b""


def test_a_made_up_answer_of_the_provider_signs_nobody_in_and_nobody_out(sign_in_with, browser, access):
    for kind in (None, "right"):
        if kind:
            sign_in_with(kind)
        kept = sign_in_cookie(browser.cookies)
        for query in ("code=made-up&state=made-up", "code=x", "state=x", "error=server_error&state=x", ""):
            browser.get(f"/oauth2callback?{query}")
            assert sign_in_cookie(browser.cookies) == kept, query
        assert (access.sign_ins.person_id(kept) is not None) is bool(kind)


def test_who_says_no_at_the_provider_is_back_at_the_page_that_was_asked_for(browser):
    token = encode_provider_token(provider_key(0))
    asked = browser.get(f"/auth/login?provider={token}", headers={"referer": f"{APP}/search?lang=ja"})
    state = httpx.URL(asked.headers["location"]).params["state"]
    answer = browser.get(f"/oauth2callback?error=access_denied&state={state}")
    assert answer.headers["location"] == "/search?lang=ja&sign_in=cancelled"
    assert sign_in_cookie(browser.cookies) == b""


def test_a_provider_that_is_down_is_told_and_one_that_is_up_again_lets_people_in(
    sign_in_with, browser, access, providers
):
    providers["right"].stop()
    try:
        answer = browser.get(f"/auth/login?provider={encode_provider_token(provider_key(0))}")
        assert answer.headers["location"] == "/?sign_in=unreachable"
    finally:
        providers["right"].start()
    assert sign_in_with("right").headers["location"] == "/"
    assert access.sign_ins.person_id(sign_in_cookie(browser.cookies)) is not None


def test_signing_out_ends_it_on_the_server_and_goes_on_to_the_provider(sign_in_with, browser, access, settings):
    sign_in_with("right")
    kept = sign_in_cookie(browser.cookies)
    answer = browser.get("/auth/logout")
    assert answer.headers["location"].startswith(f"{settings.providers[0].issuer}/session/end?")
    assert access.sign_ins.person_id(kept) is None
    assert sign_in_cookie(browser.cookies) == b""


def test_an_old_cookie_does_not_bring_back_old_groups(sign_in_with, browser, access, settings):
    sign_in_with("right")
    issuer = settings.providers[0].issuer
    access.people.signed_in(SignInClaims(issuer, "anna", groups=frozenset({"leavers"})))  # later, in another browser
    anna = identify(settings, lambda: access, lambda: browser.cookies, lambda _: [])
    assert anna.groups == {"leavers"}


def test_the_browser_keeps_no_claim_however_many_groups_somebody_has(sign_in_with, browser):
    sign_in_with("right", "berta")
    [cookie] = [cookie for cookie in browser.cookies.jar if cookie.name != "_streamlit_session"]
    assert len(cookie.value) < 400
    assert "berta" not in URLSafeTimedSerializer("").loads_unsafe(cookie.value, salt="_streamlit_user")[1]

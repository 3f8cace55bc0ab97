"""Sign-in in a real browser, with a certified OpenID provider: roles, disabled people, and faults of the provider."""

import json
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Cookie, Page, expect

from index_store.access.access import Access, open_access
from index_store.access.grants import EVERYONE, Grant
from index_store.access.principal import Role
from index_store.access.rights import Right
from index_store.base.settings.settings import Settings
from pages.server.sign_in import IN_ADDRESSES
from pages.texts import texts
from rag.text.language import Language
from tests.browser.app_process import App
from tests.browser.conftest import KEY, LOCALES, Contexts
from tests.browser.seen import look
from tests.browser.server.guests import PEOPLE, SECONDS, WITHIN, Guest, Served
from tests.helpers.looks import one_width
from tests.helpers.waiting import eventually
from tests.servers import OpenAIServer
from tests.servers.provider import CLIENT_SECRET, OpenIdProvider

BY_ITSELF = 60 * SECONDS
"""how long a tab that nobody touches may take to notice a change"""
CLOCK = 5 * 60
"""seconds"""

ROLES = {"admins": "anna@example.com", "editor_groups": "editors"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("signed-in")
    app = App(
        folder,
        OPENAI_API_KEY=KEY,
        EMBEDDING_MODEL="test-embedding",
        PRELOAD="false",
        AUTH="oidc",
        **{name.upper(): value for name, value in ROLES.items()},
    )
    callback = f"{app.url}/oauth2callback"
    with ExitStack() as servers:
        model = servers.enter_context(OpenAIServer())
        provider = servers.enter_context(OpenIdProvider(callback, PEOPLE))
        ahead, behind = (OpenIdProvider(callback, PEOPLE, clock=each) for each in (CLOCK, -CLOCK))
        rogue = OpenIdProvider(callback, PEOPLE, poses_as=provider.issuer)
        named = {"Example": provider, "Ahead": ahead, "Behind": behind, "Rogue": rogue}
        providers = [each.settings(name) for name, each in named.items()]
        app.set(OPENAI_BASE_URL=model.base_url, APP_URL=app.url, OIDC_PROVIDERS=json.dumps(providers))
        servers.enter_context(app)
        with urllib.request.urlopen(f"{app.url}/readyz", timeout=60) as answer:  # then the data folder is open
            assert answer.status == 200
        yield Served(app, provider, behind, folder / "data", (ahead, behind, rogue))
    log = app.log.read_text(encoding="utf-8")
    faults = [line for line in log.splitlines() if " ERROR " in line and "not as the issuer in" not in line]
    assert faults == []
    assert CLIENT_SECRET not in log


@pytest.fixture(scope="module")
def others(served: Served) -> Iterator[None]:
    """Starts the other providers, which only tests of `make soak` use."""
    with ExitStack() as running:
        for each in served.others:
            running.enter_context(each)
        yield


def let_time_pass(page: Page) -> None:
    """Moves the clock of a tab forward, while nobody touches it."""
    page.clock.fast_forward(BY_ITSELF)


@pytest.fixture(scope="module")
def contexts(chromium: Browser, served: Served) -> Iterator[Contexts]:
    contexts = Contexts(chromium, served.app)
    yield contexts
    contexts.close()


def is_in(guest: Guest) -> bool:
    """Whether the person is signed in: only then does the server answer 404 for a document that does not exist."""
    return {404: True, 403: False}[guest.context.request.get(f"{guest.served.app.url}/originals/x").status]


@pytest.fixture(scope="module")
def signed_in(contexts: Contexts, served: Served) -> Callable[[str], list[Cookie]]:
    """Returns the cookies of a person who has signed in, for tests of other things. No test may sign the person out.
    Who was disabled and enabled signs in again.
    """
    cookies: dict[str, list[Cookie]] = {}

    def is_still_in(name: str) -> bool:
        with contexts.lent(LOCALES["en"], 1280) as context:
            context.add_cookies(cookies[name])
            return is_in(Guest(context, served, "en"))

    def signed_in(name: str) -> list[Cookie]:
        if name not in cookies or not is_still_in(name):
            with contexts.lent(LOCALES["en"], 1280) as context:
                guest = Guest(context, served, "en")
                guest.sign_in(name)
                assert guest.complaints == []
                cookies[name] = context.cookies()
        return cookies[name]

    return signed_in


@pytest.fixture
def come(contexts: Contexts, served: Served, signed_in) -> Iterator[Callable[..., Guest]]:
    guests = []
    with ExitStack() as lent:

        def come(language: Language = "en", width: int = 1280, *, name: str | None = None) -> Guest:
            """`name`: of a person who has already signed in."""
            cookies = signed_in(name) if name else []
            guests.append(Guest(lent.enter_context(contexts.lent(LOCALES[language], width)), served, language))
            guests[-1].context.add_cookies(cookies)
            return guests[-1]

        yield come
    assert [each for guest in guests for each in guest.complaints] == []


@pytest.fixture
def at_a_clock(chromium: Browser, served: Served) -> Iterator[Guest]:
    """A person in a new context, because `let_time_pass` changes the clock of a context permanently."""
    context = chromium.new_context(locale=LOCALES["en"])
    context.clock.install()
    guest = Guest(context, served, "en")
    yield guest
    context.close()
    assert guest.complaints == []


@pytest.fixture
def access(served: Served) -> Iterator[Access]:
    """Opens the access data from another process, while the app runs."""
    with open_access(Settings(data_dir=served.data_dir, **ROLES)) as access:
        yield access


@one_width("ja", 390)
def test_someone_signs_in_comes_to_the_page_they_asked_for_and_signs_out(come, language, width):
    guest = come(language, width)
    guest.open("/documents?doc=none")
    expect(guest.button("sign_in.with", provider="Example")).to_be_visible(timeout=WITHIN)
    expect(guest.documents).to_have_count(0)
    assert guest.width <= width
    guest.go_to_provider()
    guest.tell_provider("rika")
    guest.page.wait_for_url(lambda url: "/documents?doc=none" in url, timeout=WITHIN)
    expect(guest.sidebar.get_by_text("鈴木 梨香")).to_be_attached(timeout=WITHIN)
    guest.sign_out()
    guest.go_to_provider()
    expect(guest.page.get_by_label("Login")).to_be_visible(timeout=WITHIN)  # they are signed out at the provider too


@pytest.mark.soak  # they are pressed above
def test_the_buttons_to_sign_in_and_out_show_their_words(come):
    guest = come()
    guest.open()
    words = guest.words["sign_in.with"].format(provider="Example")
    expect(guest.button("sign_in.with", provider="Example")).to_be_visible(timeout=WITHIN)
    assert guest.page.get_by_text(words, exact=True).bounding_box()["width"] > 40
    guest.sign_in("emil")
    out = guest.page.get_by_text(guest.words["sign_in.out"], exact=True)
    expect(out).to_be_visible(timeout=WITHIN)
    assert out.bounding_box()["width"] > 20


def test_the_browser_stores_no_provider_token_and_scripts_cannot_read_its_cookie(come):
    guest = come(name="emil")
    cookies = {cookie["name"]: cookie for cookie in guest.context.cookies(guest.served.app.url)}
    assert cookies.keys() == {"_streamlit_user", "_streamlit_xsrf"}
    cookie = cookies["_streamlit_user"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    assert cookie["expires"] - time.time() <= 12 * 3600  # Streamlit's own cookie would stay for 30 days


@pytest.mark.soak  # without a browser: tests/pages/server/test_sign_in.py
def test_a_cookie_that_was_copied_is_worth_nothing_after_its_owner_has_signed_out(come):
    owner, thief = come(), come()
    owner.sign_in("emil")
    stolen = [cookie for cookie in owner.context.cookies() if cookie["name"].startswith("_streamlit")]
    thief.context.add_cookies(stolen)
    thief.open()
    expect(thief.documents).to_be_attached(timeout=WITHIN)
    owner.sign_out()
    thief.context.add_cookies(stolen)
    for page in (thief.page, thief.context.new_page()):
        thief.open(page=page)
        expect(thief.text("sign_in.about", page)).to_be_visible(timeout=WITHIN)
    assert thief.context.request.get(f"{thief.served.app.url}/originals/x").status == 403


@pytest.mark.soak  # who is disabled is tested below
def test_who_signs_out_in_one_tab_is_out_in_the_others_by_themselves(at_a_clock):
    guest = at_a_clock
    guest.sign_in("emil")
    other = guest.open_beside("/search")
    expect(other.get_by_test_id("stSidebar").get_by_role("link", name="Documents")).to_be_attached(timeout=WITHIN)
    guest.sign_out()
    let_time_pass(other)
    expect(guest.text("sign_in.about", other)).to_be_visible(timeout=BY_ITSELF)
    expect(other.get_by_test_id("stSidebar").get_by_role("link", name="Documents")).to_have_count(0)


def test_who_is_disabled_is_out_in_every_tab_that_nobody_touches_and_does_not_come_in_again(at_a_clock, access):
    guest = at_a_clock
    guest.sign_in("rika")
    other = guest.open_beside("/documents")
    expect(other.get_by_test_id("stSidebar").get_by_role("link", name="Search")).to_be_attached(timeout=WITHIN)
    rika = access.people.find("rika").id
    access.people.disable(rika)
    try:
        for page in (guest.page, other):
            let_time_pass(page)
            expect(guest.text("sign_in.withdrawn", page)).to_be_visible(timeout=BY_ITSELF)
            expect(page.get_by_test_id("stSidebar").get_by_role("link", name="Search")).to_have_count(0)
        guest.sign_out()
        guest.go_to_provider()
        guest.tell_provider("rika")
        expect(guest.text("sign_in.withdrawn")).to_be_visible(timeout=WITHIN)
    finally:
        access.people.enable(rika)


def test_who_is_disabled_can_press_nothing_more_in_a_tab_that_was_open(come, access):
    guest = come(name="emil")  # an editor, who has the button
    guest.open("/documents")
    expect(guest.button("index.new")).to_be_visible(timeout=WITHIN)
    guest.settle()
    guest.button("index.new").click()
    guest.page.get_by_label(guest.words["index.name"]).fill("secrets")
    emil = access.people.find("emil").id
    access.people.disable(emil)
    try:
        guest.button("index.create").click()
        expect(guest.text("sign_in.withdrawn")).to_be_visible(timeout=WITHIN)
        assert "secrets" not in [each.index for each in access.grants.all()]
    finally:
        access.people.enable(emil)


@pytest.mark.soak  # without a browser: tests/index_store/access/people/test_people.py
def test_roles_come_from_the_settings_and_the_groups_of_the_claim(signed_in, access):
    for name, role in (("anna", Role.ADMIN), ("emil", Role.EDITOR), ("rika", Role.READER)):
        signed_in(name)
        assert access.people.find(name).role is role


@one_width("en", 390)
def test_an_admin_sees_the_people_changes_a_role_and_disables(come, signed_in, access, language, width):
    signed_in("emil")
    admin = come(language, width, name="anna")
    admin.open("/people")
    emil = access.people.find("emil")
    row = admin.page.locator(f".st-key-person-{emil.id}")
    expect(row).to_contain_text("emil@", timeout=WITHIN)
    expect(row).to_contain_text("staff")
    assert admin.width <= width
    admin.choose_role(emil, "admin")
    expect(row.get_by_role("combobox").first).to_have_value(admin.words["people.admin"], timeout=WITHIN)
    # The field shows the role before it is stored.
    assert eventually(lambda: access.people.find("emil").role is Role.ADMIN, seconds=WITHIN / SECONDS)
    admin.choose_role(emil, "as_claimed")
    expect(row.get_by_role("combobox").first).to_have_value(
        admin.words["people.claimed"].format(role=admin.words["people.editor"]), timeout=WITHIN
    )
    expect(row.get_by_role("combobox")).to_have_count(1)  # with the old field beside it, the buttons move
    admin.settle()
    row.get_by_role("button", name=admin.words["people.disable"]).click()
    expect(row).to_contain_text(admin.words["people.disabled"], timeout=WITHIN)
    admin.settle()
    assert access.people.find("emil").disabled_at
    row.get_by_role("button", name=admin.words["people.enable"]).click()
    expect(row.get_by_role("button", name=admin.words["people.disable"])).to_be_visible(timeout=WITHIN)
    assert not access.people.find("emil").disabled_at


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
@pytest.mark.parametrize(("language", "width"), [("ja", 390), ("en", 1280)])
def test_who_manages_an_index_grants_it_in_the_page_and_every_page_of_a_team_can_be_read(come, access, language, width):
    manager, index = come(language, width), f"plans in {language}"
    manager.sign_in("anna", "/documents")
    manager.button("index.new").click()
    manager.page.get_by_label(manager.words["index.name"]).fill(index)
    manager.button("index.create").click()
    picker = manager.page.locator(".st-key-indexes").get_by_role("combobox")
    expect(picker).to_have_value(re.compile(index), timeout=WITHIN)
    manager.settle()
    manager.button("access.title").click()
    form = manager.page.get_by_test_id("stPopoverBody")
    whom, name = (form.get_by_label(manager.words[f"access.{each}"], exact=True) for each in ("whom", "account_name"))
    name.fill("nora.with-quite-a-long-name@subsidiary.example.com")
    manager.choose(form.get_by_role("combobox").last, manager.words["access.write"])
    manager.button("access.give").click()
    expect(form.get_by_text("subsidiary")).to_be_visible(timeout=WITHIN)
    manager.choose(whom, manager.words["access.everyone"])
    expect(name).to_have_count(0)
    manager.button("access.give").click()
    rows = form.locator('[class*="st-key-granted-"]')
    expect(rows).to_have_count(2, timeout=WITHIN)
    found = look(manager, width)
    manager.choose(rows.last.get_by_role("combobox"), manager.words["access.manage"])
    rows.first.get_by_role("button").last.click()
    expect(rows).to_have_count(1, timeout=WITHIN)
    assert access.grants.of(index).grants == (Grant(EVERYONE, Right.MANAGE),)
    leaver = access.people.add("leaver@example.com").id
    for page in ("people", "usage", "audit", "my_data"):
        manager.open(f"/{page}")
        expect(manager.page.get_by_role("heading", name=manager.words[f"app.{page}"], exact=True)).to_be_visible(
            timeout=WITHIN
        )
        found += look(manager, width)
        if page == "people":
            row = manager.page.locator(f".st-key-person-{leaver}")
            manager.settle()
            row.get_by_role("button", name=f"{manager.words['people.erase']} leaver").click()
            manager.button("people.erase_really").scroll_into_view_if_needed()
            found += look(manager, width)
            manager.button("people.erase_really").click()
            expect(row).to_have_count(0, timeout=WITHIN)
    assert leaver in [each.id for each in access.people.erased()]
    assert found == []


def test_the_last_admin_can_neither_disable_nor_demote_themselves(come, access):
    admin = come(name="anna")
    admin.open("/people")
    anna = access.people.find("anna")
    row = admin.page.locator(f".st-key-person-{anna.id}")
    expect(row).to_contain_text("anna@", timeout=WITHIN)
    admin.settle()
    row.get_by_role("button", name=admin.words["people.disable"]).click()
    expect(admin.page.get_by_text("is the last admin")).to_be_visible(timeout=WITHIN)
    admin.choose_role(anna, "reader")
    expect(admin.page.get_by_text("is the last admin")).to_be_visible(timeout=WITHIN)
    expect(row.get_by_role("combobox").first).to_have_value("Admin (from the sign-in)")
    assert access.people.find("anna").role is Role.ADMIN


@pytest.mark.soak  # without a browser: tests/pages/admin/test_people.py
def test_nobody_else_sees_the_people(come):
    reader = come(name="rika")
    reader.open("/people")
    expect(reader.documents).to_be_attached(timeout=WITHIN)
    expect(reader.page.get_by_text("Only admins of this app can do this")).to_be_visible(timeout=WITHIN)
    expect(reader.page.get_by_text("anna@")).to_have_count(0)
    expect(reader.link("app.people")).to_have_count(0)


@pytest.mark.soak  # without a browser: tests/pages/admin/test_people.py
def test_an_admin_adds_someone_who_comes_in_under_the_role_that_was_given(come, access):
    admin = come(name="anna")
    admin.open("/people")
    expect(admin.button("people.add")).to_be_visible(timeout=WITHIN)
    admin.settle()
    admin.button("people.add").click()
    admin.page.get_by_label(admin.words["people.name"]).fill("nora@example.com")
    admin.page.get_by_role("combobox", name=admin.words["people.role_first"], exact=True).click()
    admin.page.get_by_role("option", name=admin.words["people.editor"], exact=True).click()
    admin.button("people.add_really").click()
    expect(admin.page.get_by_text(admin.words["people.not_yet"])).to_be_visible(timeout=WITHIN)
    come().sign_in("nora")
    nora = access.people.find("nora")
    assert (nora.role, nora.role_is_given) == (Role.EDITOR, True)


@pytest.mark.soak  # without a browser: tests/pages/server/test_sign_in.py
@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("provider", ["Ahead", "Behind"])
def test_a_clock_that_is_5_minutes_off_keeps_nobody_out(come, provider):
    come().sign_in("rika", provider=provider)


@pytest.mark.soak  # without a browser: tests/pages/server/test_sign_in.py
@pytest.mark.usefixtures("others")
def test_a_provider_that_calls_itself_by_the_name_of_another_signs_nobody_in(come, signed_in, access):
    signed_in("anna")
    seen = access.people.find("anna").last_seen_at
    guest = come()
    guest.open()
    guest.go_to_provider("Rogue")
    guest.tell_provider("anna")
    expect(guest.text("sign_in.failed")).to_be_visible(timeout=WITHIN)
    assert access.people.find("anna").last_seen_at == seen
    assert [cookie["name"] for cookie in guest.context.cookies(guest.served.app.url)] == ["_streamlit_xsrf"]


@pytest.mark.soak  # without a browser: tests/pages/server/test_sign_in.py
def test_a_provider_that_is_down_is_told_and_one_that_is_up_again_lets_people_in(come, served):
    guest = come()
    guest.open("/search")
    expect(guest.button("sign_in.with", provider="Example")).to_be_visible(timeout=WITHIN)
    served.provider.stop()
    try:
        guest.go_to_provider()
        expect(guest.text("sign_in.unreachable")).to_be_visible(timeout=WITHIN)
    finally:
        served.provider.start()
    guest.go_to_provider()
    guest.tell_provider("rika")
    expect(guest.documents).to_be_attached(timeout=WITHIN)
    assert "/search" in guest.page.url
    assert "sign_in" not in guest.page.url


@pytest.mark.soak  # one that is down: tests/pages/server/test_sign_in.py
@pytest.mark.usefixtures("others")
def test_a_provider_that_says_nothing_is_told_and_holds_up_nobody_else(come, served):
    inside, guest = come("ja"), come("ja")
    inside.sign_in("emil", provider="Ahead")
    guest.open()
    expect(guest.button("sign_in.with", provider="Example")).to_be_visible(timeout=WITHIN)
    served.provider.hang()
    try:
        guest.go_to_provider()
        inside.open("/documents")
        expect(inside.button("index.new")).to_be_visible(timeout=WITHIN)
        expect(guest.text("sign_in.unreachable")).to_be_visible(timeout=WITHIN)
    finally:
        served.provider.go_on()


@pytest.mark.soak  # one that is down: tests/pages/server/test_sign_in.py
@pytest.mark.usefixtures("others")
def test_a_provider_that_dies_in_the_midst_of_a_sign_in_is_told(come, served):
    guest = come()
    guest.open()
    guest.go_to_provider("Behind")
    expect(guest.page.get_by_label("Login")).to_be_visible(timeout=WITHIN)
    form = {"login": "rika", "password": "rika"}
    answer = guest.context.request.post(guest.page.url, form=form, max_redirects=0)
    answer = guest.context.request.get(answer.headers["location"], max_redirects=0)
    callback = answer.headers["location"]
    assert "/oauth2callback?code=" in callback
    served.behind.hang()
    try:
        guest.page.goto(callback)
        expect(guest.text("sign_in.failed")).to_be_visible(timeout=WITHIN)
        expect(guest.documents).to_have_count(0)
    finally:
        served.behind.go_on()


@pytest.mark.soak  # without a browser: tests/pages/server/test_sign_in.py
def test_who_says_no_at_the_provider_is_back_and_may_try_again(come):
    guest = come()
    guest.open("/?lang=ja")
    guest.words = texts("ja")
    guest.go_to_provider()
    guest.page.get_by_role("button", name="Cancel").click()
    expect(guest.text("sign_in.cancelled")).to_be_visible(timeout=WITHIN)
    expect(guest.button("sign_in.with", provider="Example")).to_be_visible()


@pytest.mark.soak  # without a browser: tests/pages/server/test_sign_in.py
def test_a_made_up_answer_of_the_provider_signs_nobody_in_and_nobody_out(come):
    guest, stranger = come(name="emil"), come()
    for query in ("code=made-up&state=made-up", "code=x", "state=x", "error=server_error&state=x", ""):
        for each in (guest, stranger):
            # Like a redirect of the browser, with its cookies, but without drawing the page at the end.
            each.context.request.get(f"{each.served.app.url}/oauth2callback?{query}")
            assert is_in(each) is (each is guest), query
    query = "code=made-up&state=made-up"
    guest.open(f"/oauth2callback?{query}")
    expect(guest.documents).to_be_attached(timeout=WITHIN)
    stranger.open(f"/oauth2callback?{query}")
    expect(stranger.text("sign_in.about")).to_be_visible(timeout=WITHIN)


def test_no_page_of_others_signs_anybody_out_or_sends_them_to_sign_in(come):
    guest = come(name="emil")
    for path in ("/auth/logout", "/auth/login?provider=x"):
        for site in ("cross-site", "same-site"):
            headers = {"Sec-Fetch-Site": site}
            asked = guest.context.request.get(guest.served.app.url + path, headers=headers, max_redirects=0)
            assert asked.headers["location"] == "/"
            assert is_in(guest)
    guest.open()
    expect(guest.documents).to_be_attached(timeout=WITHIN)


@pytest.mark.parametrize("address", ["//evil.example/x", "/\\evil.example", "https://evil.example//evil.example/"])
def test_whatever_address_is_asked_for_nobody_is_led_elsewhere(come, address):
    guest = come()
    kept, callback = quote(address, safe=IN_ADDRESSES), f"{guest.served.app.url}/oauth2callback"
    guest.context.add_cookies([{"name": "came_from", "value": kept, "url": callback}])
    asked = guest.context.request.get(f"{guest.served.app.url}/oauth2callback?error=x&state=x", max_redirects=0)
    assert re.match(r"/[^/\\]", asked.headers["location"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/originals/x"),
        ("GET", "/media/x.png"),
        ("PUT", "/_stcore/upload_file/session/file"),
        ("POST", "/_stcore/upload_file/session/file"),
        ("DELETE", "/_stcore/upload_file/session/file"),
    ],
)
def test_without_a_sign_in_nothing_can_be_downloaded_or_uploaded(come, method, path):
    stranger = come("ja")
    headers = {"Accept-Language": "ja"}
    answer = stranger.context.request.fetch(stranger.served.app.url + path, method=method, headers=headers)
    assert answer.status == 403
    assert "サインイン" in answer.text()


def test_of_streamlits_routes_only_those_of_the_sign_in_are_open(come):
    request, url = come().context.request, come().served.app.url
    for path in ("/auth/", "/auth/x", "/auth/login/x", "/_stcore/metrics", "/component/x"):
        assert request.get(url + path).status == 404


def test_the_health_routes_need_nobody(come):
    request, url = come().context.request, come().served.app.url
    assert request.get(f"{url}/healthz").status == request.get(f"{url}/readyz").status == 200

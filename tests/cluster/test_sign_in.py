"""Signing in to several apps on one database: one sign-in is valid in all of them, even if their clocks differ."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from pages.texts import texts
from tests.browser.conftest import KEY
from tests.cluster.conftest import Open
from tests.cluster.started import APPS, is_reached, start_apps
from tests.cluster.topology import PATIENCE, Topology
from tests.helpers import clock
from tests.helpers.waiting import eventually
from tests.servers import OpenAIServer
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer
from tests.servers.provider import OpenIdProvider

SECONDS = 1000
"""milliseconds in one second"""
WITHIN = 60 * SECONDS
AHEAD = "+3m"

ANNA = {"name": "Anna Adams", "email": "anna@example.com", "email_verified": True, "groups": ["staff"]}
WORDS = texts("en")


@pytest.fixture
def topology(
    tmp_path: Path, postgres: PostgresServer, chroma: ChromaServer, server: OpenAIServer
) -> Iterator[Topology]:
    """With an OpenID provider. The clock of one app is ahead."""
    named = {"AUTH": "oidc", "ADMINS": ANNA["email"], "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
    models = {"EMBEDDING_MODEL": "test-embedding", "SUGGEST_FOLLOW_UPS": "off"}
    with (
        Topology(tmp_path, postgres, chroma, **named, **models) as topology,
        OpenIdProvider(f"{topology.url}/oauth2callback", {"anna": ANNA}) as provider,
    ):
        for app in APPS:
            topology.services[app].environment["OIDC_PROVIDERS"] = json.dumps([provider.settings()])
        topology.services[APPS[1]].environment.update(clock.environment(AHEAD))
        yield topology


def sign_in(page: Page, topology: Topology) -> None:
    page.goto(f"{topology.url}/")
    page.get_by_role("button", name=WORDS["sign_in.with"].format(provider="Example"), exact=True).click()
    page.get_by_label("Login").fill("anna")
    page.get_by_label("Password").fill("anna")
    page.get_by_role("button", name="Continue").click()
    expect_in(page)


def expect_in(page: Page) -> None:
    expect(page.get_by_test_id("stSidebar").get_by_text(str(ANNA["name"]))).to_be_attached(timeout=WITHIN)


def expect_out(page: Page) -> None:
    expect(page.get_by_text(WORDS["sign_in.about"])).to_be_visible(timeout=WITHIN)


def copied(context: BrowserContext, to: BrowserContext) -> None:
    """Copies the cookies that say who the person is, but not the cookie that says which app they use."""
    to.add_cookies([each for each in context.cookies() if each["name"].startswith("_streamlit")])


def let_only(app: str, topology: Topology) -> None:
    """Starts this app and kills the other one, so that Caddy sends everybody to this one."""
    other = APPS[1 - APPS.index(app)]
    if (app, 1) not in topology.running:
        topology.start(app)
        assert eventually(lambda: topology.is_ready(app), PATIENCE), topology.log(app)
    if (other, 1) in topology.running:
        topology.kill(other)
    assert eventually(lambda: is_reached(topology), PATIENCE), topology.log("caddy")


@pytest.mark.soak  # tests/pages/server/test_sign_in.py signs in with clocks apart, at one app
def test_who_is_in_at_one_app_is_in_at_the_other_whatever_its_clock_says_until_they_sign_out(
    topology: Topology, open_browser: Open
) -> None:
    start_apps(topology)
    mine, elsewhere = open_browser(), open_browser()
    page, other = mine.new_page(), elsewhere.new_page()
    sign_in(page, topology)
    copied(mine, to=elsewhere)
    for app in APPS:
        let_only(app, topology)
        for each in (page, other):
            each.goto(f"{topology.url}/")
            expect_in(each)

    page.get_by_role("button", name=WORDS["sign_in.out"], exact=True).click()
    page.get_by_role("button", name="Yes").click()
    expect_out(page)
    for app in APPS[::-1]:
        let_only(app, topology)
        other.goto(f"{topology.url}/")
        expect_out(other)

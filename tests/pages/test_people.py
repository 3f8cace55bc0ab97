"""The page on which admins see the people and what they may do."""

from index_store.access.people import SignInClaims
from pages.server.settings import Settings
from tests.local import process_of
from tests.pages.app_page import AppPage


def people_page(monkeypatch, language="en") -> AppPage:
    signed = Settings(auth="header", trusted_proxies="127.0.0.1")
    monkeypatch.setattr("pages.server.settings.server_settings", lambda: signed)
    return AppPage("admin/people", language)


def test_people_are_in_the_order_of_their_names_whatever_the_case(engine, monkeypatch):
    names = ["Zoe", "anna", "Bob"]
    for name in names:
        process_of(engine).store.access.people.signed_in(SignInClaims("idp", name, name))
    page = people_page(monkeypatch)
    shown = [each.value.strip("*") for each in page.app.markdown]
    assert [each for each in shown if each in names] == ["anna", "Bob", "Zoe"]

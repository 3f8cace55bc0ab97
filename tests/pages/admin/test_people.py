"""The page on which admins see the people and what they may do."""

from unittest.mock import Mock

from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from index_store.access.user_people import UserPeople
from index_store.base.errors import AdminNeeded, NoPersonNamed
from pages.server.settings import ServerSettings
from pages.texts import texts
from tests.helpers.back_doors import process_of
from tests.helpers.looks import one_language
from tests.pages.tabs.app_page import AppPage


def people_page(monkeypatch, language="en") -> AppPage:
    signed = ServerSettings(auth="header", trusted_proxies="127.0.0.1")
    monkeypatch.setattr("pages.server.settings.server_settings", lambda: signed)
    return AppPage("admin/people", language)


def test_people_are_in_the_order_of_their_names_whatever_the_case(engine, monkeypatch):
    names = ["Zoe", "anna", "Bob"]
    for name in names:
        process_of(engine).store.access.people.signed_in(SignInClaims("idp", name, name))
    page = people_page(monkeypatch)
    shown = [each.value.strip("*") for each in page.app.markdown]
    assert [each for each in shown if each in names] == ["anna", "Bob", "Zoe"]


def test_a_person_is_found_whatever_the_case_and_width_of_the_words(engine, monkeypatch):
    for name in ("Ａｎｎａ 12", "Bob"):
        process_of(engine).store.access.people.signed_in(SignInClaims("idp", name, name))
    page = people_page(monkeypatch).write("people.search", "１２ ANNA")
    shown = " ".join(each.value for each in page.app.markdown)
    assert ("Ａｎｎａ 12" in shown, "Bob" in shown) == (True, False)


@one_language("ja")
def test_each_button_names_the_person_whom_it_is_about(engine, monkeypatch, language):
    people = process_of(engine).store.access.people
    for name in ("anna", "[b](*ob*)"):
        people.signed_in(SignInClaims("idp", name, name))
    labels = [each.label for each in people_page(monkeypatch, language).app.button if ":gray[" in each.label]
    word = texts(language)["people.disable"]
    assert labels == [f"{word} :gray[\\[b\\]\\(\\*ob\\*\\)]", f"{word} :gray[anna]"]


@one_language("ja")
def test_without_a_sign_in_the_page_says_so_and_its_language_can_be_changed(engine, language):
    page = AppPage("admin/people", language)
    assert page.words["people.nobody_signs_in"] in page.text
    assert page.offers_languages


def test_who_is_no_admin_is_told_so_and_can_change_the_language(engine, monkeypatch):
    monkeypatch.setattr(UserPeople, "all", Mock(side_effect=AdminNeeded))
    page = people_page(monkeypatch)
    assert page.errors == [AdminNeeded().sentence("en")]
    assert page.offers_languages


def test_a_half_typed_person_is_still_there_after_a_switch_of_language(engine, monkeypatch):
    page = people_page(monkeypatch)
    before = page.fields
    assert page.choose_language("ja").fields == before


def test_the_role_that_is_chosen_for_a_new_person_stays_on_a_switch_of_language_and_is_theirs(engine, monkeypatch):
    page = people_page(monkeypatch)
    page.choose("people.role_first", "editor").choose_language("ja")
    page.app.text_input[0].set_value("hana@example.com")
    next(each for each in page.app.button if each.label == page.words["people.add_really"]).click()
    page.look()
    hana = process_of(engine).store.access.people.find("hana@example.com")
    assert (hana.role, hana.role_is_given) == (Role.EDITOR, True)
    [role] = [each.value for each in page.app.selectbox if each.label == page.words["people.role_first"]]
    assert role == "claimed"  # for the next person


@one_language("ja")
def test_whoever_adds_a_person_and_names_nobody_is_asked_for_the_name(engine, monkeypatch, language):
    page = people_page(monkeypatch, language)
    next(each for each in page.app.button if each.label == page.words["people.add_really"]).click()
    assert page.look().errors == [NoPersonNamed().sentence(language)]

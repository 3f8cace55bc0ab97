"""The pages about stored data: audit log, usage and limits, and a person's own data."""

import json
from datetime import datetime, timedelta, timezone

import pytest
import streamlit as st

from index_store.access.audit.audit import FOLDER
from index_store.access.audit.entry import Action
from index_store.access.limits import GroupLimits
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from index_store.base.errors import NoGroupNamed
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.full_disk import full_disk, linux
from tests.helpers.local import as_person, grant
from tests.helpers.looks import one_language
from tests.pages.conftest import restart
from tests.pages.documents import add
from tests.pages.tabs.app_page import AppPage, shown


class Page(AppPage):
    def rows(self, table: int = 0) -> list[dict]:
        return self.app.dataframe[table].value.to_dict("records")

    def button(self, key: str):
        [found] = [each for each in self.app.button if shown(each.label) == self.words[key]]
        return found


# The audit log


@one_language("ja")
def test_the_audit_page_lists_what_was_done_the_latest_first(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    engine.ask("Who pays?", index="handbook", pipeline_name="naive").result()
    page = Page("admin/audit", language)
    what = page.column("audit.what")
    assert what[0] == page.words["action.asked"]
    assert {page.words["action.added"], page.words["action.index_created"]} <= set(what)
    assert (page.column("audit.index")[0], page.column("audit.who")[0]) == ("handbook", "local")
    asked = page.column("audit.details")[0]
    assert f"{page.words['fact.pipeline']}: {page.words['pipeline.naive']}" in asked
    assert "Who pays?" not in asked


def test_it_is_filtered_by_person_action_index_words_and_time(engine, tmp_path):
    add(engine, tmp_path, "travel.md")
    engine.store.create_index("other")
    page = Page("admin/audit")
    assert len(page.rows()) == 3
    page.choose("audit.action_any", Action.INDEX_CREATED)
    assert set(page.column("audit.index")) == {"handbook", "other"}
    page.choose("audit.index_any", "other")
    assert page.column("audit.index") == ["other"]
    page.write("audit.words", "of nobody")
    assert page.words["audit.none_found"] in page.text
    page.write("audit.words", "").write("audit.person", "LOCAL").choose("audit.days", "today")
    assert page.words["audit.none_found"] in page.text  # `local` is an id, which has to be written exactly
    page.write("audit.person", "local")
    assert page.column("audit.index") == ["other"]


@pytest.mark.soak
def test_it_is_filtered_by_whom_something_was_done_to_and_by_the_words_of_names(engine):
    bob = person_of(as_person(engine, "Bob Brown"))
    engine.store.access.people.disable(bob.id)
    page = Page("admin/audit")
    for field, text in (("audit.person", "bob\u2060 brown"), ("audit.words", "BROWN")):
        page.write(field, text)
        assert page.words["action.disabled"] in page.column("audit.what")
        page.write(field, "")


def test_its_filters_stay_while_another_page_is_open(engine):
    page = Page("admin/audit").write("audit.person", "nobody").choose("audit.action_any", Action.DISABLED)
    page.app.switch_page("search.py").run()
    page.app.switch_page("admin/audit.py").run()
    assert next(each.value for each in page.app.text_input if each.label == page.words["audit.person"]) == "nobody"


def test_its_file_is_named_after_the_day_of_the_reader(engine, monkeypatch):
    names: list[str] = []
    monkeypatch.setattr(st, "download_button", lambda label, data, name, *_, **__: names.append(name))
    engine.store.create_index("drafts")
    page = Page("admin/audit")
    for hours in (-12, 14):  # where it is another day than in London, at least in one of them
        page.app.context["timezone"] = f"Etc/GMT{-hours:+d}"  # the sign in such a name is that of POSIX
        page.look()
        assert names[-1] == f"audit-{datetime.now(timezone(timedelta(hours=hours))):%Y-%m-%d}.jsonl"


@pytest.mark.soak
def test_that_an_index_is_nobodys_and_what_was_erased_is_told_as_it_is(engine):
    bob = as_person(engine, "bob", Role.EDITOR)
    bob.store.create_index("drafts")
    engine.store.access.grants.set_owner("drafts", None)
    engine.store.access.people.erase(person_of(bob).id)
    page = Page("admin/audit")
    erased, owner_set, *_ = page.column("audit.details")
    assert page.words["fact.role"] not in erased
    assert page.words["usage.nobody"] in owner_set


def test_a_limit_is_told_there_as_on_the_page_where_it_is_set(engine):
    engine.store.access.limits.set("sales", GroupLimits(tokens_a_day=50_000, files=0))
    page = Page("admin/audit")
    details = page.column("audit.details")[0]
    assert f"{page.words['usage.tokens_a_day']}: 50,000" in details
    assert f"{page.words['usage.files']}: {page.words['usage.unlimited']}" in details


@pytest.mark.soak
def test_it_is_turned_page_by_page(engine):
    audit = process_of(engine).store.access.audit
    local = person_of(engine)
    for number in range(120):
        audit.note(Action.SIGNED_IN, local, number=number)
    page = Page("admin/audit")
    seen = [page.column("audit.details")[0]]
    assert page.button("audit.later").disabled
    for _ in range(2):
        page.button("audit.earlier").click()
        page.look()
        seen.append(page.column("audit.details")[0])
    assert seen == ["number: 119", "number: 69", "number: 19"]
    assert page.button("audit.earlier").disabled
    page.button("audit.later").click()
    assert page.look().column("audit.details")[0] == "number: 69"


@linux
def test_what_can_not_be_written_is_told_there(engine):
    audit = process_of(engine).store.access.audit
    with full_disk():
        for _ in range(50):
            audit.note(Action.SIGNED_IN, person_of(engine), words="w" * 200)
    assert f"{audit.lost.entries} entries could not be written" in Page("admin/audit").text


@pytest.mark.soak
@linux
def test_one_entry_that_can_not_be_written_is_told_as_one(engine):
    audit = process_of(engine).store.access.audit
    with full_disk():
        while not audit.lost:
            audit.note(Action.SIGNED_IN, person_of(engine), words="w" * 200)
    assert audit.lost.entries == 1
    assert "1 entry could not be written" in Page("admin/audit").text


def test_where_it_is_off_that_is_told(engine, monkeypatch):
    monkeypatch.setattr(process_of(engine).store.access.audit, "_days", 0)
    page = Page("admin/audit")
    assert page.text.count("AUDIT_DAYS is 0") == 1
    assert page.offers_languages


@pytest.mark.soak
def test_one_day_of_keeping_is_told_as_one(engine, monkeypatch):
    monkeypatch.setenv("AUDIT_DAYS", "1")
    restart()
    assert "kept for 1 day," in Page("admin/audit").text
    assert "after 1 day." in Page("personal/my_data").text


# Usage and limits


@one_language("en")
def test_the_usage_page_says_who_uses_what_and_what_each_index_takes(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    engine.ask("Who pays?", index="handbook", pipeline_name="naive").result()
    page = Page("admin/usage", language)
    [person] = page.rows(0)
    who, today = (person[page.words[f"usage.{each}"]] for each in ("who", "runs_today"))
    assert (who, today) == (page.words["usage.local"], 1)
    [index] = page.rows(1)
    name, owner, files, size = (index[page.words[f"usage.{each}"]] for each in ("index", "owner", "files", "size"))
    assert (name, owner, files) == ("handbook", page.words["usage.nobody"], 1)
    assert size == 0.01
    formats = json.loads(page.app.dataframe[1].proto.columns)
    assert formats[page.words["usage.size"]]["type_config"]["format"] == "%.2f MB"  # "bytes" is 4.2万B in Japanese
    assert formats[page.words["usage.files"]]["type_config"]["format"] == "localized"


@one_language("ja")
def test_what_an_erased_person_has_used_today_is_nobodys_by_name(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    grant(engine, "handbook")
    alice = as_person(engine, "alice")
    alice.ask("Who pays?", index="handbook", pipeline_name="naive").result()
    engine.personal_data.erase(person_of(alice).id)
    page = Page("admin/usage", language)
    assert page.rows()[0][page.words["usage.who"]] == page.words["usage.erased"]


def test_a_name_that_begins_like_a_formula_is_none_in_the_file_of_the_table(engine):
    as_person(engine, "=HYPERLINK(A1)", Role.EDITOR).store.create_index("+1+1")
    audited = Page("admin/audit")
    assert (audited.column("audit.index")[0], audited.column("audit.who")[0]) == ("\u2060+1+1", "\u2060=HYPERLINK(A1)")
    page = Page("admin/usage")
    [index] = page.rows(0)
    assert (index[page.words["usage.index"]], index[page.words["usage.owner"]]) == (
        "\u2060+1+1",
        "\u2060=HYPERLINK(A1)",
    )


@one_language("en")
def test_limits_of_a_group_are_set_and_taken_away(engine, language):
    page = Page("admin/usage", language)
    # The page does not run in between, because a form sends all its fields together.
    next(each for each in page.app.text_input if each.label == page.words["usage.group"]).set_value("sales")
    field = next(each for each in page.app.number_input if each.label == page.words["usage.tokens_a_day"])
    field.set_value(5000)
    next(each for each in page.app.button if each.label == page.words["usage.set_really"]).click()
    page.look()
    assert process_of(engine).store.access.limits.all() == {"sales": GroupLimits(tokens_a_day=5000)}
    assert "5,000" in page.text
    assert "sales" in page.button("usage.take").label
    page.button("usage.take").click()
    page.look()
    assert process_of(engine).store.access.limits.all() == {}


@pytest.mark.soak
def test_half_typed_limits_are_still_there_after_a_switch_of_language(engine):
    page = Page("admin/usage")
    before = page.fields
    assert len(before) == 5
    assert page.choose_language("ja").fields == before


@one_language("ja")
def test_limits_without_a_group_are_refused_in_a_sentence(engine, language):
    page = Page("admin/usage", language)
    page.button("usage.set_really").click()
    page.look()
    assert NoGroupNamed().sentence(language) in page.text


# A person's own data


@one_language("en")
def test_my_data_goes_when_someone_is_sure(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    engine.ask("Who pays?", index="handbook", pipeline_name="naive").result()
    page = Page("personal/my_data", language)
    assert page.words["my_data.conversations"].format(count=1) in page.text
    assert page.button("my_data.delete_really").disabled
    page.app.checkbox[0].check()
    page.look()
    page.button("my_data.delete_really").click()
    page.look()
    assert page.words["my_data.deleted"] in page.text
    assert page.offers_languages
    assert engine.history.runs() == []
    folder = engine.settings.data_dir / FOLDER
    [entry] = [json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()][-1:]
    assert entry["action"] == "data_deleted"


@one_language("en")
def test_an_index_that_others_may_use_is_not_said_to_be_deleted(engine, language):
    alice = as_person(engine, "alice", Role.EDITOR)
    for name in ("drafts", "handbook"):
        alice.store.create_index(name)
    grant(engine, "handbook")
    page = Page("personal/my_data", language).choose("my_data.whose", person_of(alice).id)
    shared = page.words["my_data.shared_indexes_of"].format(name="alice", names="handbook")
    assert shared in page.text
    page.app.checkbox[0].check()
    page.look()
    page.button("my_data.delete_really").click()
    page.look()
    assert [each.name for each in engine.store.indexes()] == ["handbook"]
    assert page.words["my_data.indexes_of"].format(name="alice", names="drafts") in page.text
    assert page.words["my_data.kept"].format(names="handbook") in page.text
    assert shared not in page.text


def test_an_admin_deletes_the_data_of_somebody_else_and_keeps_their_own(engine, tmp_path):
    add(engine, tmp_path, "travel.md")
    grant(engine, "handbook")
    alice = as_person(engine, "alice")
    for someone in (engine, alice):
        someone.ask("Who pays?", index="handbook", pipeline_name="naive").result()
    page = Page("personal/my_data").choose("my_data.whose", person_of(alice).id)
    page.app.checkbox[0].check()
    page.look()
    page.button("my_data.delete_really").click()
    page.look()
    assert alice.history.runs() == []
    assert len(engine.history.runs()) == 1


@one_language("ja")
def test_where_an_admin_picks_somebody_else_the_page_names_whose_data_is_deleted(engine, language):
    name = "taro_yamada (*hr*)"
    taro = as_person(engine, name, Role.EDITOR)
    taro.store.create_index("drafts")
    page = Page("personal/my_data", language)
    own = [each.value for each in page.app.subheader], page.text
    page.choose("my_data.whose", person_of(taro).id)
    assert name in page.app.selectbox[0].options
    [heading] = [shown(each.value) for each in page.app.subheader]
    assert heading == page.words["my_data.delete_of"].format(name=name)
    days = page.words["time.days"].format(count=engine.settings.audit_days)
    about = page.words["my_data.about_of"].format(name=name)
    logged = page.words["my_data.logged_of"].format(name=name, days=days)
    indexes = page.words["my_data.indexes_of"].format(name=name, names="drafts")
    assert {about, logged, indexes} <= set(page.text.splitlines())
    page.app.checkbox[0].check()
    page.look()
    page.button("my_data.delete_really").click()
    page.look()
    assert indexes in page.text.splitlines()
    assert ([each.value for each in page.look().app.subheader], page.text) == own


@one_language("ja")
def test_without_an_audit_log_nobody_is_told_that_it_records_a_deletion(engine, monkeypatch, language):
    whose = person_of(as_person(engine, "alice")).id
    monkeypatch.setenv("AUDIT_DAYS", "0")
    restart()
    page = Page("personal/my_data", language)
    log = {"en": "audit log", "ja": "監査ログ"}[language]
    assert page.words["my_data.about"] in page.text
    assert log not in page.text
    page.choose("my_data.whose", whose)
    assert page.words["my_data.about_of"].format(name="alice") in page.text
    assert log not in page.text


@one_language("en")
def test_of_two_people_with_one_name_each_can_be_told_and_picked(engine, language):
    people = process_of(engine).store.access.people
    claims = [SignInClaims("idp", subject, "佐藤 健", f"{subject}@example.com") for subject in ("sato.k", "sato.t")]
    first, second = (people.signed_in(each).id for each in claims)
    page = Page("personal/my_data", language)
    labels = page.app.selectbox[0].options
    assert len(set(labels)) == len(labels)
    for id_, mail in ((first, "sato.k@example.com"), (second, "sato.t@example.com")):
        page.choose("my_data.whose", id_)
        assert mail in shown(page.app.subheader[0].value)


@one_language("ja")
def test_of_one_person_at_two_providers_the_data_of_the_one_that_was_picked_is_shown(engine, language):
    store = process_of(engine).store
    old, new = (
        store.access.people.signed_in(SignInClaims(issuer, "1", "佐藤 健", "sato.k@example.com", True))
        for issuer in ("https://old.example", "https://new.example")
    )
    for name, owner in (("古い", old), ("新しい", new)):
        store.create_index(name)
        store.access.grants.set_owner(name, owner.id)
    page = Page("personal/my_data", language)
    labels = page.app.selectbox[0].options
    assert len(set(labels)) == len(labels)
    for name, owner in (("古い", old), ("新しい", new)):
        page.choose("my_data.whose", owner.id)
        assert name in page.text


@pytest.mark.soak
@one_language("ja")
def test_where_the_person_picked_was_erased_in_another_tab_the_page_says_so(engine, language):
    alice = as_person(engine, "alice")
    whose = person_of(alice).id
    page = Page("personal/my_data", language)
    own = [each.value for each in page.app.subheader]
    page.choose("my_data.whose", whose)
    engine.personal_data.erase(whose)
    assert page.words["my_data.gone"] in page.look().text
    assert [each.value for each in page.app.subheader] == own
    assert page.words["my_data.gone"] not in page.look().text


def test_whose_data_an_admin_has_looked_at_is_forgotten_when_the_page_is_left(engine):
    alice = as_person(engine, "alice")
    page = Page("personal/my_data").choose("my_data.whose", person_of(alice).id)
    page.app.switch_page("search.py").run()
    page.app.switch_page("personal/my_data.py").run()
    assert page.app.selectbox[0].value != person_of(alice).id

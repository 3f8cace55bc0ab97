"""The Documents page: what it shows of an index and its documents, and the actions on them."""

import re
from collections.abc import Callable
from email.message import EmailMessage
from html import escape
from threading import Semaphore
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from streamlit.testing.v1.element_tree import Selectbox

from index_store.access.grants import EVERYONE, Grant, Grantee
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from index_store.access.rights import GranteeKind, Right
from index_store.base.errors import (
    BadIndexName,
    ChangeFailed,
    DocumentGone,
    EmptyDocument,
    IndexExists,
    NoText,
    StoreFailed,
    UnknownIndex,
)
from index_store.catalogue.records import Document
from index_store.crawl import CrawlOptions
from index_store.ingestion.sources import FileSource, SiteSource, upload_folder
from index_store.parsing.loaders.formats import LOADABLE
from pages import samples
from pages.server import process
from pages.widgets.controls.script import SCRIPTS
from pages.widgets.documents.jobs import LATEST
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.full_disk import full_disk, linux
from tests.helpers.local import as_person, grant
from tests.helpers.looks import one_language
from tests.index_store.parsing.loaders.pdf_file import SCAN, PdfFile, Text, painted
from tests.pages.conftest import restart
from tests.pages.documents import HANDBOOK, add
from tests.pages.reader import Tags
from tests.pages.tabs.app_page import AppPage, shown
from tests.pages.tabs.documents_page import DocumentsPage
from tests.servers.site_server import SiteServer, html

HOSTILE = "](javascript:alert(1)) <img src=x onerror=alert(2)> ![p](https://elsewhere.example/p.png) **b** $x$"


# Also in test_chat.py::test_one_click_loads_the_samples_and_then_questions_to_try_are_offered.
@pytest.mark.soak
@one_language("ja")
def test_the_empty_page_says_the_next_step_and_loads_the_sample(engine, language):
    page = DocumentsPage(language)
    assert page.words["documents.empty"] in page.text
    page.press("empty.load_samples").wait()
    assert page.picked == samples.INDEX
    assert len(page.table) == len(samples.documents())
    assert page.words["empty.load_samples"] not in page.buttons


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["chat", "documents"])
def test_the_second_click_on_load_samples_begins_nothing(name):
    page = AppPage(name)
    [key] = [each.key for each in page.app.button if shown(each.label) == page.words["empty.load_samples"]]
    assert f'"{key}"' in page.html  # the script of the buttons whose second click is dropped


@one_language("en")
@pytest.mark.usefixtures("engine")
def test_the_uploader_names_every_kind_of_file_that_is_read(language):
    [uploader] = {each.help for each in DocumentsPage(language).app.file_uploader}
    named = re.findall(r"\.[a-z0-9]+", uploader)
    assert sorted(named) == sorted(LOADABLE)
    assert {".pdf", ".docx", ".xlsx", ".pptx", ".html", ".eml", ".epub", ".zip", ".csv", ".md", ".txt"} <= set(named)


@one_language("ja")
def test_files_that_are_dropped_are_added_once_and_told_of(engine, language):
    page = DocumentsPage(language)
    page.drop(("travel.md", HANDBOOK.encode()), ("empty.txt", b"")).wait()
    assert len(engine.store.ingestions) == 1
    page.look()
    assert len(engine.store.ingestions) == 1
    assert f"{page.words['job.ready_one']} · {page.words['job.failed_one']}" in page.html
    assert EmptyDocument(name="empty.txt").sentence(language) in Tags(page.html).text
    assert sorted(page.titles) == ["Travel", "empty.txt"]
    assert page.picked == page.words["index.default"]
    assert not list(upload_folder(engine.settings.data_dir).glob("*"))
    page.press("documents.dismiss")
    assert page.words["job.ready_one"] not in page.html


def test_a_document_is_shown_with_its_facts(engine, tmp_path):
    add(engine, tmp_path, "travel.md")
    page = DocumentsPage()
    told = {"title": "Travel", "source": "travel.md", "status": [page.words["state.ready"]], "kind": "MD"}
    for name, value in {**told, "size": 1, "sections": 2, "chunks": 2}.items():
        assert page.column(f"column.{name}") == [value]
    assert page.words["column.error"] not in page.table[0]


def test_a_name_that_begins_like_a_formula_is_none_in_the_file_of_the_table(engine, tmp_path):
    add(engine, tmp_path, "+1+1.md", text="# =HYPERLINK(A1)\n\nText.\n")
    page = DocumentsPage()
    assert (page.titles, page.column("column.source")) == (["\u2060=HYPERLINK(A1)"], ["\u2060+1+1.md"])


def test_search_and_filters_find_documents(engine, tmp_path):
    add(engine, tmp_path, "travel.md", "leave.txt", "ＩＴガイド.md")
    page = DocumentsPage()
    assert len(page.table) == 3
    assert page.write("table.search", "it ガイド").column("column.source") == ["ＩＴガイド.md"]
    page.write("table.search", "")
    assert page.choose("table.kind", "txt").column("column.source") == ["leave.txt"]
    page.write("table.search", "travel")
    assert page.table == []
    assert page.words["table.nothing"] in page.text


@pytest.mark.soak
def test_search_and_filters_stay_while_a_document_is_open(engine, tmp_path):
    [document_id, *_] = add(engine, tmp_path, "travel.md", "travel.txt", "leave.txt")
    page = DocumentsPage()
    page.write("table.search", "travel").choose("table.kind", "txt")
    page.go("documents", doc=document_id).go("documents")
    assert page.column("column.source") == ["travel.txt"]
    assert len(page.choose("table.kind", None).table) == 2
    page.go("chat").go("documents")
    assert len(page.table) == 2


@pytest.mark.soak
def test_the_address_of_the_list_shows_it_after_a_reload_and_a_look_at_a_document(engine, tmp_path):
    add(engine, tmp_path, "archive.md", index="archive")
    [document_id, *_] = add(engine, tmp_path, "travel.md", "travel.txt", "leave.txt")
    page = DocumentsPage().choose("index.index", "handbook")
    assert not {"q", "kind", "status", "origin"} & set(page.app.query_params)
    page.write("table.search", "travel").choose("table.kind", "txt")
    address = {name: page.parameter(name) for name in ("index", "q", "kind")}
    assert address == {"index": "handbook", "q": "travel", "kind": "txt"}
    again = DocumentsPage(**address)
    assert (again.picked, again.column("column.source")) == ("handbook", ["travel.txt"])
    document = DocumentsPage(**address, doc=document_id)
    [back] = [
        each.proto for each in document.app.get("page_link") if document.words["document.back"] in each.proto.label
    ]
    assert dict(parse_qsl(back.query_string)) == {**address, "lang": "en"}


@pytest.mark.soak
def test_what_was_sought_in_an_index_is_not_sought_in_another(engine, tmp_path):
    add(engine, tmp_path, "archive.md", "archive.txt", index="archive")
    add(engine, tmp_path, "travel.md", "travel.txt")
    page = DocumentsPage(index="handbook").write("table.search", "travel").choose("table.kind", "txt")
    assert len(page.choose("index.index", "archive").table) == 2
    assert (page.parameter("index"), page.parameter("q"), page.parameter("kind")) == ("archive", None, None)
    assert len(page.choose("index.index", "handbook").table) == 2


def test_what_an_address_names_and_no_document_has_is_ignored(engine, tmp_path):
    add(engine, tmp_path, "travel.md", "leave.txt")
    page = DocumentsPage(kind="x", status="x", origin="x")
    assert len(page.table) == 2
    assert {page.parameter(name) for name in ("kind", "status", "origin")} == {None}


@one_language("en")
def test_an_address_whose_index_is_gone_says_so(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language, index="old")
    assert UnknownIndex(index="old", known="handbook").sentence(language) in page.text
    assert (page.picked, page.parameter("index")) == ("handbook", "handbook")


@one_language("ja")
def test_what_is_selected_stays_so_under_another_search_and_is_counted_and_removed(engine, tmp_path, language):
    ids = add(engine, tmp_path, "travel.md", "leave.md", "trains.md")
    page = DocumentsPage(language)
    page.app.session_state["ticked documents"] = frozenset(ids[:2])  # an AppTest can't tick
    page.write("table.search", "leave.md")
    page.write("table.search", "trains.md")
    assert page.words["table.chosen_hidden"].format(count=2, hidden=2) in page.text
    page.write("table.search", "nowhere")
    page.write("table.search", "travel.md")
    assert page.words["table.chosen_hidden"].format(count=2, hidden=1) in page.text
    page.press("table.remove_really", count=2)
    assert [each.source for each in engine.store.documents("handbook")] == ["trains.md"]
    page.write("table.search", "")
    assert page.words["index.documents_one"] in page.text


@pytest.mark.soak
def test_a_selection_of_many_documents_compares_none_with_each_other(engine, tmp_path, monkeypatch):
    ids = add(engine, tmp_path, "travel.md", "leave.md", "trains.md")
    page = DocumentsPage()
    compared: list[str] = []
    monkeypatch.setattr(Document, "__eq__", lambda one, other: compared.append(one.id) or one is other)
    page.app.session_state["ticked documents"] = frozenset(ids)
    page.write("table.search", "leave.md")
    assert page.words["table.chosen_hidden"].format(count=3, hidden=2) in page.text
    assert compared == []


@pytest.mark.soak
def test_a_selection_is_cleared_by_one_press(engine, tmp_path):
    ids = add(engine, tmp_path, "travel.md", "leave.md")
    page = DocumentsPage()
    page.app.session_state["ticked documents"] = frozenset(ids)
    page.write("table.search", "travel.md").press("runs.untick")
    assert page.write("table.search", "").words["index.documents"].format(count=2) in page.text


@one_language("ja")
def test_what_failed_says_why_in_the_readers_language_and_can_be_tried_again(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language)
    page.drop(("scan.pdf", PdfFile([[]]).content())).wait()
    page.press("documents.dismiss")
    page.choose("table.status", "failed")
    assert page.column("column.error") == [NoText(name="scan.pdf").sentence(language)]
    page.press("table.retry_all_one")
    [job] = engine.store.ingestions
    assert [each.source for each in job.wait()] == ["scan.pdf"]


@pytest.mark.soak
@one_language("en")
def test_a_status_that_no_document_has_any_more_keeps_its_name_in_the_filter(engine, tmp_path, language):
    add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language)
    page.drop(("scan.pdf", PdfFile([[]]).content())).wait()
    page.choose("table.status", "failed")
    [failed] = [each.id for each in engine.store.documents("handbook") if each.error]
    engine.store.remove_documents([failed])
    [filter_] = [each for each in page.look().app.selectbox if each.label == page.words["table.status"]]
    assert page.words["state.failed"] in filter_.options


def test_a_job_is_cancelled(engine, server):
    server.embeds = Semaphore(0)
    page = DocumentsPage()
    page.drop(("travel.md", HANDBOOK.encode())).press("documents.cancel")
    page.wait()
    assert page.words["job.cancelled"] in page.html
    assert page.titles == []


@pytest.mark.soak
def test_a_job_that_is_over_can_be_sent_again_with_what_failed_alone(engine, server):
    page = DocumentsPage()
    page.drop(("travel.md", HANDBOOK.encode()), ("scan.pdf", PdfFile([[]]).content())).wait()
    page.press("job.retry_one")
    [job] = engine.store.ingestions
    assert [each.source for each in job.wait()] == ["scan.pdf"]


@pytest.mark.soak
@one_language("ja")
def test_of_many_finished_jobs_the_latest_are_shown_and_the_others_counted_and_closed_at_once(
    engine, tmp_path, language
):
    names = [f"{number}.md" for number in range(LATEST + 3)]
    for name in names:
        (tmp_path / name).write_text("" if name == "1.md" else HANDBOOK, encoding="utf-8")
        engine.store.ingest("handbook", [FileSource(tmp_path / name, name)]).wait()
    page = DocumentsPage(language)
    assert page.buttons.count(page.words["documents.dismiss"]) == LATEST
    earlier = page.words["job.earlier"].format(count=3)
    assert f"{earlier} · {page.words['job.with_failures_one']}" in page.text
    page.press("job.dismiss_earlier")
    assert len(engine.store.ingestions) == LATEST
    assert page.buttons.count(page.words["documents.dismiss"]) == LATEST
    assert page.words["job.dismiss_earlier"] not in page.buttons


def test_an_index_is_made_renamed_and_deleted(engine, tmp_path):
    page = DocumentsPage()
    page.app.text_input(key="name of new index-0").set_value("travel")
    page.press("index.create")
    assert page.picked == "travel"
    add(engine, tmp_path, "travel.md", index="travel")
    page.look()
    assert page.words["index.documents_one"] in page.app.selectbox[0].options[0]
    page.app.text_input(key="rename of travel").set_value("出張")
    page.press("index.rename")
    assert page.picked == "出張"
    assert page.titles == ["Travel"]
    told = page.words["index.delete_help"].format(name="出張", documents=page.words["index.documents_one"])
    assert told in page.text
    page.press("index.delete_really")
    assert engine.store.indexes() == []
    assert page.words["documents.empty"] in page.text


@one_language("en")
def test_what_is_sent_for_an_index_that_another_tab_has_renamed_reaches_no_other_index(engine, tmp_path, language):
    add(engine, tmp_path, "archive.md", index="archive")
    add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language).choose("index.index", "handbook")
    deeds: list[Callable[[], object]] = [
        lambda: page.press("index.delete_really"),
        lambda: page.press("index.reindex"),
        lambda: page.drop(("leave.md", HANDBOOK.encode())),
    ]
    for number, deed in enumerate(deeds):
        old, new = page.picked, f"handbook {number}"
        engine.store.rename_index(old, new)
        deed()
        assert UnknownIndex(index=old, known=f"archive, {new}").sentence(language) in page.text
        page.choose("index.index", new)
    assert engine.store.ingestions == ()
    assert [each.source for each in engine.store.documents()] == ["archive.md", "travel.md"]
    assert page.drop(("leave.md", HANDBOOK.encode())).wait().picked == new


@pytest.mark.soak
def test_no_popover_of_an_index_that_another_tab_has_renamed_stays_open_over_the_next(engine, tmp_path, monkeypatch):
    add(engine, tmp_path, "archive.md", index="archive")
    add(engine, tmp_path, "travel.md")
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage().choose("index.index", "handbook")

    def popovers() -> dict[str, str]:
        """The id of each, by its label. A popover that is open stays so while its id is the same."""
        return {each.proto.popover.label: each.proto.id for each in page.app.get("popover")}

    before = popovers()
    engine.store.rename_index("handbook", "rules")
    page.look()
    of_an_index = {page.words[key] for key in ("index.manage", "access.title", "index.delete")}
    assert of_an_index <= {label for label, id_ in popovers().items() if id_ != before[label]}


@pytest.mark.soak
def test_a_press_for_a_site_that_another_tab_has_removed_reaches_no_other_site(engine):
    sites = ["http://localhost/cups", "http://localhost/kettles"]  # not allowed, but listed
    for url in sites:
        engine.store.ingest("handbook", [SiteSource(CrawlOptions(url=url, depth=0, limit=1))]).wait()
    page = DocumentsPage()
    removal = next(each for each in page.app.button if (each.key or "").startswith("danger-remove-site"))
    engine.store.remove("handbook", sites[0])
    removal.click()
    page.look()
    assert [each.options.url for each in engine.store.sites("handbook")] == sites[1:]


def test_a_site_is_fetched_by_its_form_listed_and_removed(engine, monkeypatch):
    monkeypatch.setenv("CRAWL_ALLOWED", "127.0.0.1")
    monkeypatch.setenv("CRAWL_RATE", "1000")
    store = restart().store
    store.create_index("handbook")
    with SiteServer() as site:
        site.pages = {"/": html("Start", "/next"), "/next": html("Next")}
        page = DocumentsPage().write("site.url", site.url()).press("site.crawl").wait()
        assert {*page.titles} == {"Start", "Next"}
        next(each for each in page.app.button if (each.key or "").startswith("danger-remove-site")).click()
        page.look()
    assert (page.titles, store.sites("handbook")) == ([], [])


@one_language("ja")
def test_a_site_that_may_have_more_pages_than_its_limit_says_so(engine, monkeypatch, language):
    monkeypatch.setenv("CRAWL_ALLOWED", "127.0.0.1")
    monkeypatch.setenv("CRAWL_RATE", "1000")
    store = restart().store
    with SiteServer() as site:
        site.pages = {"/": html("Start", "/a", "/b"), "/a": html("A"), "/b": html("B")}
        for limit in (2, 4):
            store.ingest("handbook", [SiteSource(CrawlOptions(url=site.url(), depth=1, limit=limit))]).wait()
            page = DocumentsPage(language)
            assert (page.words["site.limit_reached"] in page.html) is (limit == 2)


@pytest.mark.soak
def test_the_addresses_of_sites_are_read_in_their_letters_where_documents_are_chosen_by_them(engine):
    addresses = {f"http://127.0.0.1:9/{each}/" for each in ("規程", "旅費")}
    for each in addresses:
        engine.store.ingest("handbook", [SiteSource(CrawlOptions(url=each, depth=0, limit=1))]).wait()
    page = DocumentsPage()
    [origin] = [each for each in page.app.selectbox if each.proto.placeholder == page.words["table.origin"]]
    assert set(origin.options) == addresses
    documents = AppPage("search", index="handbook").app.multiselect(key="search doc")
    assert set(documents.options) == {f"{each} [{page.words['state.failed']}]" for each in addresses}


@pytest.mark.soak
def test_the_glossary_shows_what_another_tab_has_saved_and_does_not_take_it_back(engine, tmp_path):
    add(engine, tmp_path, "travel.md")
    page, save = DocumentsPage(), engine.store.set_glossary

    def shown_terms() -> list[str]:
        return page.look().app.text_area(key="glossary of handbook").value.splitlines()

    save("handbook", "green car\nper diem")
    assert shown_terms() == ["green car", "per diem"]
    page.write("index.glossary", "green car\nper diem\nsleeping car")
    save("handbook", "per diem\nship")
    assert shown_terms() == ["per diem", "ship", "sleeping car"]
    save("handbook", "per diem\nship\nferry")
    page.press("index.glossary_save")
    assert engine.store.glossary("handbook").splitlines() == ["per diem", "ship", "ferry", "sleeping car"]
    page.write("index.glossary", "ferry").press("index.glossary_save")
    assert engine.store.glossary("handbook") == "ferry"


@one_language("ja")
def test_a_site_of_an_index_that_another_tab_has_renamed_is_not_fetched_into_a_new_index(engine, language):
    url = "http://localhost/cups"  # not allowed, but listed
    engine.store.ingest("handbook", [SiteSource(CrawlOptions(url=url, depth=0, limit=1))]).wait()
    page = DocumentsPage(language)
    engine.store.rename_index("handbook", "rules")
    page.press("site.again")
    assert page.errors == [UnknownIndex(index="handbook", known="rules").sentence(language)]
    page.wait()
    assert [each.name for each in engine.store.indexes()] == ["rules"]


@pytest.mark.soak
def test_a_page_of_a_site_is_fetched_again_into_its_index_though_another_tab_has_renamed_it(engine):
    document_id = page_of_a_site(engine)
    page = DocumentsPage(doc=document_id)
    engine.store.rename_index("handbook", "rules")
    page.press("document.page_again").wait()
    assert [each.name for each in engine.store.indexes()] == ["rules"]
    assert engine.store.ingestions[-1].index == "rules"


@pytest.mark.soak
@one_language("en")
def test_a_page_of_a_site_that_another_tab_has_removed_is_not_fetched_into_a_new_index(engine, language):
    document_id = page_of_a_site(engine)
    page = DocumentsPage(language, doc=document_id)
    engine.store.delete_index("handbook")
    page.press("document.page_again")
    assert page.errors == [DocumentGone().sentence(language)]
    page.wait()
    assert engine.store.indexes() == []


def page_of_a_site(engine) -> str:
    """The id of a page that could not be fetched."""
    source = SiteSource(CrawlOptions(url="http://localhost/cups", depth=0, limit=1))  # not allowed, but listed
    [result] = engine.store.ingest("handbook", [source]).wait()
    return result.document_id


@one_language("ja")
def test_a_name_that_an_index_cannot_have_is_refused_in_a_sentence(engine, language):
    page = DocumentsPage(language)
    page.app.text_input(key="name of new index-0").set_value("a/b")
    page.press("index.create")
    assert BadIndexName().sentence(language) in page.text
    for number in range(2):
        page.app.text_input(key=f"name of new index-{number}").set_value("twice")
        page.press("index.create")
    assert IndexExists(index="twice").sentence(language) in page.text


# Also in test_compare.py::test_an_index_whose_documents_are_not_ready_stays_picked_after_a_look_at_compare.
@pytest.mark.soak
def test_both_pages_are_about_the_same_index(engine, tmp_path):
    add(engine, tmp_path, "travel.md", index="first")
    add(engine, tmp_path, "leave.md", index="second")
    page = DocumentsPage()
    page.choose("index.index", "second")
    assert page.app.query_params["index"] in ("second", ["second"])
    page.app.switch_page("chat.py")
    page.look()
    assert page.app.selectbox[0].value == "second"


@one_language("ja")
@pytest.mark.parametrize(
    "address",
    [
        pytest.param("", marks=pytest.mark.soak),
        pytest.param("ftp://example.com/", marks=pytest.mark.soak),
        "http://user:secret@example.com/",
        "no address at all",
    ],
)
def test_an_address_that_cannot_be_fetched_is_told_in_a_sentence(engine, language, address):
    page = DocumentsPage(language)
    page.write("site.url", address).press("site.crawl")
    assert len(page.app.error) == 1
    assert "secret" not in page.text
    assert "Traceback" not in page.text
    assert engine.store.ingestions == ()


def test_the_form_of_a_site_says_what_will_be_fetched(engine):
    page = DocumentsPage()
    assert page.words["site.fetches"].format(depth=2, pages="200 pages") in page.text
    page.write("site.limit", 1)
    assert page.words["site.fetches"].format(depth=2, pages="1 page") in page.text
    page.app.number_input(key="site depth").set_value(0)
    assert page.words["site.alone"] in page.look().text


def test_the_half_filled_form_of_a_site_is_still_there_after_a_switch_of_language(engine):
    page = DocumentsPage().write("site.url", "https://half.example").write("site.include", "/docs/*")
    before = page.fields
    assert page.choose_language("ja").fields == before
    written = {each.label: each.value for each in (*page.app.text_input, *page.app.text_area)}
    assert written[page.words["site.url"]] == "https://half.example"
    assert written[page.words["site.include"]] == "/docs/*"


@one_language("en")
def test_a_document_is_opened_by_its_address(engine, tmp_path, language):
    [document_id] = add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language, doc=document_id)
    text = Tags(page.html).text
    assert "Travel" in text
    assert "travel.md" in text
    assert page.words["chunk.chunks"].format(count=2) in text
    assert "The green car needs the approval of a director." in text
    assert page.table == []
    assert f'href="originals/{document_id}"' in page.html


@pytest.mark.soak
@one_language("ja")
def test_the_attachments_of_a_mail_that_are_not_read_are_told_in_words_for_them(language):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "hana@example.com", "Rules"
    mail.set_content("It pays 2,500 yen a day.")
    mail.add_attachment(b"x", maintype="application", subtype="msword", filename="rules.doc")
    page = DocumentsPage(language)
    page.drop(("rules.eml", bytes(mail))).wait()
    told = page.words["document.attachments_without_text"].format(pages="rules.doc")
    assert f"rules.eml {told}" in Tags(page.html).text


@one_language("ja")
def test_the_pages_of_a_pdf_that_have_no_text_are_told_where_it_was_added_and_where_it_is_opened(engine, language):
    pages = [[Text(50, 700, "It pays 2,500 yen.")], [painted(SCAN)], [painted(SCAN)]]
    page = DocumentsPage(language)
    page.drop(("travel.pdf", PdfFile(pages).content())).wait()
    told = page.words["document.pages_without_text"].format(pages="2-3")
    assert f"travel.pdf {told}" in Tags(page.html).text
    assert page.column("column.status") == [[page.words["state.partial"]]]
    [document] = engine.store.documents(page.words["index.default"])
    page = DocumentsPage(language, doc=document.id)
    assert [shown(each.value) for each in page.app.warning] == [told]


def test_of_a_long_document_the_first_of_many_pages_without_text_are_told(engine):
    page = DocumentsPage("en")
    scanned = [[painted(SCAN)], [Text(50, 700, "It pays 2,500 yen.")]] * 60
    page.drop(("report.pdf", PdfFile(scanned).content())).wait()
    told = Tags(page.html).text
    assert page.words["document.pages_without_text"].partition("{pages}")[0] + "1, 3, 5, 7" in told
    assert page.words["document.attachments_without_text"].partition("{pages}")[0] not in told


@one_language("ja")
def test_a_document_that_is_gone_is_told_in_a_sentence(engine, language):
    page = DocumentsPage(language, doc="0" * 32)
    assert [shown(each.value) for each in page.app.warning] == [DocumentGone().sentence(language)]


def test_a_citation_opens_its_section_alone_and_then_the_whole_document(engine, tmp_path):
    [document_id] = add(engine, tmp_path, "travel.md")
    sections = engine.store.sections(document_id)
    page = DocumentsPage(doc=document_id, section=sections[1].id)
    assert "director" in page.html
    assert "2,500" not in page.html
    page.press("document.whole", count=2)
    assert "2,500" in page.html


def test_a_long_document_is_shown_a_page_at_a_time_and_searched(engine, tmp_path):
    text = "".join(f"## Part {number}\n\nThis is what part {number} says.\n\n" for number in range(45))
    [document_id] = add(engine, tmp_path, "long.md", text=text)
    page = DocumentsPage(doc=document_id)
    assert "part 19 says" in page.html
    assert "part 20 says" not in page.html
    for words in ("PART 44", "４４ says Ｐａｒｔ"):
        page.write("document.search", words)
        assert "part 44 says" in page.html
        assert "part 1 says" not in page.html
    page.write("document.search", "nowhere")
    assert page.words["table.nothing"] in page.text


@pytest.mark.soak
def test_other_words_in_the_search_of_a_document_begin_at_the_first_page_of_what_they_find(
    engine, tmp_path, monkeypatch
):
    asked: list[str] = []
    monkeypatch.setattr(st, "pagination", lambda pages, key: asked.append(key) or 1)
    text = "".join(f"## Part {number}\n\nThis is what part {number} says.\n\n" for number in range(45))
    page = DocumentsPage(doc=add(engine, tmp_path, "long.md", text=text)[0])
    for words in ("part", "says"):  # each finds as many pages
        page.write("document.search", words)
    assert len(set(asked[-2:])) == 2


def test_what_two_chunks_share_is_marked_and_lines_stay_lines(engine, tmp_path):
    lines = [f"Line {number} tells of a cup in the kitchen." for number in range(60)]
    [document_id] = add(engine, tmp_path, "cups.txt", text="\n".join(lines))
    shown = DocumentsPage(doc=document_id).html
    assert "<mark" in shown
    assert not re.search(r"kitchen\.(</mark>)?Line", shown)


def test_a_document_is_removed_and_the_list_shown(engine, tmp_path):
    [document_id, _] = add(engine, tmp_path, "travel.md", "leave.md")
    page = DocumentsPage(doc=document_id)
    page.press("document.remove_really")
    assert page.column("column.source") == ["leave.md"]


@linux
@one_language("en")
def test_a_removal_that_fails_on_a_full_disk_says_why_and_the_document_stays_open(engine, tmp_path, language):
    [document_id] = add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language, doc=document_id)
    with full_disk():
        page.press("document.remove_really")
    assert page.errors == [ChangeFailed(name="travel.md").sentence(language)]
    assert "Travel" in page.html
    page.press("document.remove_really")
    assert engine.store.documents() == []


@pytest.mark.soak
@linux
@one_language("ja")
def test_a_removal_of_several_documents_that_fails_on_a_full_disk_says_why_and_they_stay_selected(
    engine, tmp_path, language
):
    ids = add(engine, tmp_path, "travel.md", "leave.md")
    page = DocumentsPage(language)
    page.app.session_state["ticked documents"] = frozenset(ids)  # an AppTest can't tick
    page.write("table.search", "nowhere")
    with full_disk():
        page.press("table.remove_really", count=2)
    assert page.errors == [ChangeFailed(name="leave.md, travel.md").sentence(language)]
    page.press("table.remove_really", count=2)
    assert engine.store.documents() == []


@linux
@one_language("en")
def test_a_new_version_for_which_the_disk_has_no_room_says_why(engine, tmp_path, language):
    [document_id] = add(engine, tmp_path, "travel.md")
    page = DocumentsPage(language, doc=document_id)
    page.app.file_uploader[0].set_value([("travel-2026.md", b"x" * 100_000, "text/markdown")])
    with full_disk():
        page.look()
    assert page.errors == [StoreFailed(name="travel-2026.md").sentence(language)]
    assert [each.title for each in engine.store.documents()] == ["Travel"]


def test_a_document_is_replaced_by_a_new_version_under_its_own_name(engine, tmp_path):
    [document_id] = add(engine, tmp_path, "travel.md")
    page = DocumentsPage(doc=document_id)
    page.app.file_uploader[0].set_value([("travel-2026.md", b"# Travel 2026\n\nAll new.\n", "text/markdown")])
    page.look()
    page.wait()
    [document] = engine.store.documents()
    assert (document.id, document.source, document.title) == (document_id, "travel.md", "Travel 2026")
    assert "All new." in page.html


def test_words_of_a_document_are_shown_as_they_are_and_run_nothing(engine, tmp_path):
    """They become neither HTML nor Markdown."""
    name = HOSTILE.replace("/", "") + ".html"
    words = escape(HOSTILE)
    [document_id] = add(engine, tmp_path, name, text=f"<h1>{words}</h1><h2>{words}</h2><p>{words}</p>")
    page = DocumentsPage(doc=document_id)
    html = page.html
    for ours in SCRIPTS.values():
        html = html.replace(ours, "")
    tags = Tags(html)
    assert not tags.names & {"script", "img", "iframe"}
    assert page.html.count("<style") == DocumentsPage().html.count("<style")  # only those of the page itself
    assert not {each for each in tags.attributes if each.startswith("on")}
    assert tags.text.count("<img src=x onerror=alert(2)>") >= 3  # title, source, heading, chunk
    listed = DocumentsPage()
    listed.drop((name, b"")).wait()
    told = [*listed.app.markdown, *listed.app.error, *listed.app.caption, *listed.app.warning, *listed.app.info]
    assert not [each.value for each in told if "](javascript" in each.value or "<img" in each.value]
    assert "onerror" not in Tags(listed.html).attributes


def test_readers_see_only_buttons_they_may_use_and_managers_see_all_grants(engine, tmp_path, monkeypatch):
    [document] = add(engine, tmp_path, "travel.md")
    grant(engine, "handbook")
    words = DocumentsPage().words
    assert words["access.give"] not in DocumentsPage().buttons  # because nobody signs in
    everything = {words[key] for key in ("index.create", "index.rename", "index.reindex", "index.delete_really")}
    assert everything <= set(DocumentsPage().buttons)
    reader, editor = as_person(engine, "rika"), as_person(engine, "emil", Role.EDITOR)
    shown = {}
    for name, someone in (("reader", reader), ("editor", editor)):
        monkeypatch.setattr(process, "principal", lambda: person_of(someone))  # noqa: B023
        shown[name] = everything & set(DocumentsPage().buttons)
        assert not DocumentsPage().app.file_uploader[1:]
        assert not DocumentsPage().app.dataframe[0].proto.selection_mode
        assert words["document.remove_really"] not in DocumentsPage(doc=document).buttons
    assert shown == {"reader": set(), "editor": {words["index.create"]}}
    grant(engine, "handbook", Right.MANAGE)
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage()
    assert everything <= set(page.buttons)
    assert words["access.give"] in page.buttons
    page.press("access.take")
    assert not engine.store.access.grants.of("handbook").grants


@one_language("ja")
def test_the_first_file_of_a_second_editor_makes_an_index_beside_that_of_the_first(engine, monkeypatch, language):
    """Neither may read the other's."""
    for name in ("anna", "ben"):
        editor = as_person(engine, name, Role.EDITOR)
        monkeypatch.setattr(process, "principal", lambda: person_of(editor))  # noqa: B023
        page = DocumentsPage(language)
        page.drop(("travel.md", HANDBOOK.encode())).wait()
        assert (page.errors, page.titles) == ([], ["Travel"])
    default = page.words["index.default"]
    assert [each.name for each in engine.store.indexes()] == [default, f"{default} 2"]


@pytest.mark.soak
def test_the_field_of_a_right_stays_when_it_is_changed_here_or_elsewhere(engine, tmp_path, monkeypatch):
    """If another field took its place, a press that comes quickly would meet neither."""
    add(engine, tmp_path, "travel.md")
    grants = process_of(engine).store.access.grants
    manager = as_person(engine, "mika", Role.EDITOR)
    grants.give("handbook", Grantee(GranteeKind.PERSON, person_of(manager).id), Right.MANAGE)
    grant(engine, "handbook", Right.WRITE)
    monkeypatch.setattr(process, "principal", lambda: person_of(manager))
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage()

    def field() -> Selectbox:
        return next(each for each in page.look().app.selectbox if EVERYONE.kind in (each.key or ""))

    before = field()
    assert before.value == Right.WRITE
    before.select(Right.MANAGE)
    after = field()
    assert (after.value, after.id) == (Right.MANAGE, before.id)
    assert Grant(EVERYONE, Right.MANAGE) in grants.of("handbook").grants
    grant(engine, "handbook", Right.READ)
    assert (field().value, field().id) == (Right.READ, before.id)


# Also in test_keeping.py::test_of_two_people_with_one_name_each_can_be_told_and_picked.
@pytest.mark.soak
def test_two_people_of_one_name_are_told_apart_by_their_addresses_where_rights_are_given(engine, tmp_path, monkeypatch):
    add(engine, tmp_path, "travel.md")
    access, name = process_of(engine).store.access, "佐藤 太郎"
    first, second = (
        access.people.signed_in(SignInClaims("https://id.example.com", each, name=name, mail=f"{each}@example.com"))
        for each in ("taro1", "taro2")
    )
    nameless = access.people.signed_in(SignInClaims("https://id.example.com", "u-17"))
    access.grants.set_owner("handbook", first.id)
    for each in (second, nameless):
        access.grants.give("handbook", Grantee(GranteeKind.PERSON, each.id), Right.READ)
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage("ja")
    told = [shown(each.value) for each in page.app.markdown]
    assert page.words["access.owner"].format(name=f"{name} · taro1@example.com") in told
    person = page.words["access.person"]
    assert {f"{person}: {name} · taro2@example.com", f"{person}: u-17"} <= set(told)


# Also in tests/index_store/access/people/test_people.py.
@pytest.mark.soak
def test_a_right_goes_to_the_mail_address_as_a_japanese_keyboard_or_a_mail_program_writes_it(
    engine, tmp_path, monkeypatch
):
    add(engine, tmp_path, "travel.md")
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage()
    for written in ("ｈａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "森 太郎 <taro@example.com>"):
        field = next(each for each in page.app.text_input if each.label == page.words["access.account_name"])
        field.set_value(written)
        page.press("access.give")
    accounts = [grant.grantee.name for grant in engine.store.access.grants.of("handbook").grants]
    assert accounts == ["hana@example.com", "taro@example.com"]


@pytest.mark.soak
def test_to_whom_a_right_is_half_given_is_still_there_after_a_switch_of_language(engine, tmp_path, monkeypatch):
    add(engine, tmp_path, "travel.md")
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage()
    before = [each for each in page.fields if "grant" in each]
    assert len(before) == 1
    assert set(before) <= set(page.choose_language("ja").fields)


class Signed:
    auth = "header"


@pytest.mark.soak
def test_whom_and_which_right_are_chosen_stay_on_a_switch_of_language_and_are_given(engine, tmp_path, monkeypatch):
    add(engine, tmp_path, "travel.md")
    monkeypatch.setattr("pages.widgets.documents.index_picker.server_settings", lambda: Signed)
    page = DocumentsPage()
    page.choose("access.whom", GranteeKind.GROUP).choose("access.right", "WRITE").choose_language("ja")
    next(each for each in page.app.text_input if each.label == page.words["access.group_name"]).set_value("経理部")
    page.press("access.give")
    [given] = engine.store.access.grants.of("handbook").grants
    assert given == Grant(Grantee(GranteeKind.GROUP, "経理部"), Right.WRITE)

"""The Search page: the hits of each search mode, what they share, and why something was not found."""

from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

import pytest

from index_store.base.errors import (
    EmbeddingModelMismatch,
    EmptyIndex,
    NoText,
    QuestionTooLong,
    ServiceFailed,
    UnknownIndex,
)
from index_store.base.services.service_address import host_of
from index_store.search.searcher import LONGEST_QUESTION, MODES, UNITS
from pages.texts import texts
from pages.widgets.controls.script import ON_EVERY_PAGE, SCRIPTS
from tests.helpers.looks import one_language
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text
from tests.pages.conftest import restart
from tests.pages.tabs.app_page import shown
from tests.pages.tabs.documents_page import DocumentsPage
from tests.pages.tabs.search_page import SearchPage
from tests.servers import Refusal
from tests.servers.openai_server import EMBEDDINGS

TRAVEL = (
    "# 出張旅費規程\n\n## 日当\n\n一般社員の国内出張の日当は1日2,500円です。宿泊を伴わないときは半額です。\n\n"
    "## Trains\n\nThe green car needs the approval of a director.\n"
)
LEAVE = "# 休暇規程\n\n## 年次有給休暇\n\n入社6か月後に10日を付与します。\n\n## 慶弔休暇\n\n結婚のときは5日です。\n"
HOSTILE = "](javascript:alert(1)) <img src=x onerror=alert(2)> <script>alert(3)</script> **b** $x$ &amp; \"'"


def add(engine, tmp_path: Path, name: str, text: str, index: str = "handbook") -> str:
    """Adds a document; returns its id."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    added = engine.store.add(index, file, name)
    assert added.error is None
    return added.document_id


@pytest.fixture(scope="module")
def shared_ids(module_engine, tmp_path_factory) -> list[str]:
    """Ids of two documents in the index, for tests that only search."""
    folder = tmp_path_factory.mktemp("documents")
    return [add(module_engine, folder, "travel.md", TRAVEL), add(module_engine, folder, "leave.md", LEAVE)]


@pytest.fixture
def ids(engine, tmp_path) -> list[str]:
    """Ids of two documents in the index."""
    return [add(engine, tmp_path, "travel.md", TRAVEL), add(engine, tmp_path, "leave.md", LEAVE)]


@pytest.mark.usefixtures("shared_ids")
def test_a_question_in_the_address_is_searched_whole_or_refused_in_a_sentence():
    asked = f"{'We travel a lot. ' * 200}Who approves the green car?"
    page = SearchPage(q=asked)
    assert page.app.text_input(key="search q").value == asked
    assert "green" in page.analysis
    assert QuestionTooLong(length=4001, most=LONGEST_QUESTION).sentence("en") in SearchPage(q="x" * 4001).text


def chosen(page: SearchPage, documents: Sequence[str]) -> SearchPage:
    page.app.multiselect(key="search doc").set_value(list(documents))
    return page.look()


@one_language("ja")
@pytest.mark.usefixtures("shared_ids")
def test_the_three_searches_stand_side_by_side_and_each_hit_says_where_it_stands(language):
    page = SearchPage(language, q="国内出張の日当はいくらですか")
    for mode in MODES:
        assert page.words[f"search.{mode}"] in page.column(mode)
        assert page.words[f"search.{mode}_help"] in page.column(mode)
        first, *_ = page.hits(mode)
        assert first.path == "出張旅費規程 › 日当"
        assert "#1" in first.text
        assert "travel.md" in first.text
        assert "2,500円" in first.text


@one_language("en")
@pytest.mark.usefixtures("shared_ids")
def test_a_passage_has_one_colour_and_one_letter_in_all_lists_that_share_it_and_its_ranks_in_words(language):
    page = SearchPage(language, q="国内出張の日当はいくらですか")
    firsts = [page.hits(mode)[0] for mode in MODES]
    assert {each.letter for each in firsts} == {"A"}
    assert len({each.colour for each in firsts}) == 1
    rank = {mode: page.words[f"search.{mode}_rank"].format(rank=1) for mode in MODES}
    assert [each.ranks for each in firsts] == [
        f"{rank['keyword']} · {rank['hybrid']}",
        f"{rank['vector']} · {rank['hybrid']}",
        f"{rank['vector']} · {rank['keyword']}",
    ]
    by_letter = {each.letter: each.colour for mode in MODES for each in page.hits(mode) if each.letter}
    assert len(set(by_letter.values())) == len(by_letter) > 1


@pytest.mark.usefixtures("shared_ids")
def test_a_passage_of_one_list_alone_is_not_coloured_and_says_that_the_others_lack_it():
    page = SearchPage(q="green car", k="1")
    [vector], [keyword], [hybrid] = (page.hits(mode) for mode in MODES)
    assert keyword.path == "出張旅費規程 › Trains"
    alone = [each for each in (vector, keyword, hybrid) if not each.letter]
    together = [each for each in (vector, keyword, hybrid) if each.letter]
    assert len({each.path for each in together}) == 1
    for each in alone:
        assert each.colour is None
        assert page.words["search.hybrid_unranked"].format(k=1) in each.ranks


@pytest.mark.usefixtures("shared_ids")
def test_a_rank_beyond_what_is_shown_is_told_where_it_is_known():
    page = SearchPage(q="結婚 休暇", k="1")
    [keyword], [hybrid] = page.hits("keyword"), page.hits("hybrid")
    assert keyword.path == hybrid.path == "休暇規程 › 慶弔休暇"
    assert page.words["search.keyword_rank"].format(rank=1) in hybrid.ranks
    assert "by vector" in hybrid.ranks
    assert page.words["search.vector_unranked"].format(k=1) not in hybrid.ranks


@pytest.mark.usefixtures("shared_ids")
def test_words_that_matched_are_marked_in_text_and_headings():
    page = SearchPage(q="日当はいくら")
    first = page.hits("keyword")[0]
    assert first.marks[0] == "日当"  # in the heading
    assert any("日当" in mark for mark in first.marks[1:])
    assert not any("一般社員" in mark for mark in first.marks)


@one_language("ja")
def test_a_hit_opens_to_its_section_with_the_chunk_highlighted_and_ways_to_the_document(engine, tmp_path, language):
    long = "".join(f"第{number}項では、備品番号{number}の貸出について定めます。" for number in range(60))
    id_ = add(engine, tmp_path, "rules.md", f"# 規程\n\n## 貸出\n\n{long}\n")
    page = SearchPage(language, q="備品番号42")
    first = page.hits("keyword")[0]
    [section] = engine.store.sections(id_)
    [cited] = first.card.find_class("cited")
    assert "備品番号42" in cited.text_content()
    assert any("42" in mark.text_content() for mark in cited.iter("mark"))
    whole = "".join(first.card.text_content().split())
    assert "第0項" in whole
    assert "第59項" in whole
    assert cited.text_content() in section.text
    assert cited.text_content() != section.text
    addresses = [each.get("href") for each in first.card.iter("a")]
    assert addresses == [f"documents?doc={id_}&section={section.id}&lang={language}", f"originals/{id_}"]


@one_language("en")
def test_sections_are_found_instead_of_chunks(engine, tmp_path, language):
    long = "".join(f"第{number}項では、備品番号{number}の貸出について定めます。" for number in range(60))
    add(engine, tmp_path, "rules.md", f"# 規程\n\n## 貸出\n\n{long}\n")
    assert len(SearchPage(language, q="備品番号").hits("keyword")) > 1
    page = SearchPage(language, q="備品番号42", unit="section")
    for mode in MODES:
        [hit] = page.hits(mode)
        assert hit.letter == "A"
        assert hit.card.find_class("cited")


@pytest.mark.parametrize("unit", ["chunk", pytest.param("section", marks=pytest.mark.soak)])
def test_the_names_of_a_tables_columns_stand_above_its_rows_and_are_marked(engine, tmp_path, unit):
    rows = "".join(f"| ZT-{number:04} | {number}円 |\n" for number in range(200))
    add(engine, tmp_path, "prices.md", f"# 価格表\n\n## 一覧\n\n| 品番 | 定価 |\n|---|---|\n{rows}")
    found = SearchPage(q="ZT-0150の定価", unit=unit).hits("keyword")
    assert any("ZT-0150" in each.text for each in found)
    assert all("定価" in each.marks for each in found)
    if unit == "chunk":
        assert len(found) > 1
        assert all("定価" in each.marks for each in SearchPage(q="定価", k="10").hits("keyword"))


def test_an_excerpt_begins_near_the_code_that_was_asked_for_and_not_at_one_that_begins_alike(engine, tmp_path):
    rows = "".join(f"| ZT-{number:04} | {number}円 | 在庫 {number} 個、棚 {number % 7} 番 |\n" for number in range(100))
    add(engine, tmp_path, "prices.md", f"# 価格表\n\n| 品番 | 定価 | 備考 |\n|---|---|---|\n{rows}")
    first = SearchPage(q="ZT-0083の定価").hits("keyword")[0]
    assert "ZT-0083" in first.marks[:3]  # below the name of the column, and perhaps one in the words before it


@one_language("ja")
def test_other_places_of_the_same_text_are_named_and_not_listed(engine, tmp_path, language):
    for name in ("travel.md", "copy.md"):
        add(engine, tmp_path, name, TRAVEL)
    page = SearchPage(language, q="国内出張の日当")
    first, *others = page.hits("keyword")
    assert not any("2,500円" in each.text for each in others)
    [told] = first.element.find_class("near-duplicates")
    assert page.words["search.near_duplicates"].partition("{")[0] in told.text_content()
    assert "travel.md" in first.text
    assert "copy.md" in first.text


@one_language("en")
@pytest.mark.usefixtures("shared_ids")
def test_how_the_question_was_read_is_told_word_by_word(language):
    page = SearchPage(language, q="日当についてSpaceshipsを教えてください")
    words = page.words
    assert words["search.whole_one"] in page.analysis["日当"]
    assert words["search.particle"] in page.analysis["を"]
    assert words["search.asking"] in page.analysis["教え"]
    assert "→ spaceship" in page.analysis["Spaceships"]
    assert words["search.nowhere"] in page.analysis["Spaceships"]
    assert words["search.pairs_help"] in page.page.text_content()


def test_a_word_is_looked_for_in_the_documents_chosen_alone(shared_ids):
    page = SearchPage(q="日当", doc=shared_ids[1])
    assert page.words["search.nowhere"] in page.analysis["日当"]
    assert page.words["search.whole_one"] in SearchPage(q="日当", doc=shared_ids[0]).analysis["日当"]


@one_language("ja")
@pytest.mark.usefixtures("ids")
def test_each_word_says_in_how_many_chunks_it_stands_or_that_only_its_characters_do(engine, language):
    engine.store.set_glossary("handbook", "慶弔休暇届\n")
    analysis = SearchPage(language, q="規程 慶弔休暇届").analysis
    words = texts(language)
    assert words["search.whole"].format(count=4) in analysis["規程"]
    assert words["search.parts"] in analysis["慶弔休暇届"]


@one_language("en")
@pytest.mark.usefixtures("shared_ids")
def test_a_keyword_search_that_finds_nothing_says_what_to_do(language):
    page = SearchPage(language, q="zzyzx frobnicate")
    assert page.hits("keyword") == []
    assert page.words["search.keyword_none"] in page.column("keyword")
    assert page.hits("vector")


@pytest.mark.usefixtures("shared_ids")
@one_language("ja")
@pytest.mark.parametrize(
    "question", ["※!?", *(pytest.param(each, marks=pytest.mark.soak) for each in ("🚄🍣", '" ( * ^'))]
)
def test_a_question_without_words_says_so(language, question):
    page = SearchPage(language, q=question)
    assert page.hits("keyword") == []
    assert page.words["search.no_words"] in page.column("keyword")


@pytest.mark.usefixtures("shared_ids")
@pytest.mark.parametrize(
    "question",
    [
        *("日", '" OR NEAR(', "日当 green 🚄 ＧＲＥＥＮ", "{x} %s {0}"),
        *(pytest.param(each, marks=pytest.mark.soak) for each in ("券", "a", "ﾆｯﾄｳ １０日", "日当" * 500, "x" * 4000)),
    ],
)
def test_questions_of_all_kinds_are_answered_without_a_fault(question):
    page = SearchPage(q=question)
    assert page.hits("vector")
    assert page.text == ""


def test_a_search_keeps_to_the_documents_chosen_and_the_address_keeps_them(shared_ids):
    page = chosen(SearchPage(q="日当"), shared_ids[1:])
    assert page.address["doc"] == shared_ids[1:]
    for mode in MODES:
        assert not any("travel.md" in each.text for each in page.hits(mode))
    assert page.hits("vector")
    assert any("travel.md" in each.text for each in chosen(page, []).hits("keyword"))
    assert "doc" not in page.address


@one_language("ja")
def test_a_document_that_failed_is_named_with_its_sentence(engine, ids, tmp_path, language):
    (file := tmp_path / "慶弔見舞金.pdf").write_bytes(PdfFile([[]]).content())
    assert engine.store.add("handbook", file, file.name).error is not None
    why = NoText(name="慶弔見舞金.pdf").sentence(language)
    page = SearchPage(language, q="慶弔見舞金はいくらですか")
    assert why in page.named_documents
    assert page.words["state.failed"] in page.named_documents
    page = SearchPage(language, q="日当")
    assert why not in page.named_documents
    assert page.words["search.failed_one"] in page.named_documents
    failed = next(each.id for each in engine.store.documents("handbook") if each.error)
    page = SearchPage(language, q="日当", doc=failed)
    assert why in page.named_documents
    assert page.words["search.vector_none"] in page.column("vector")


@one_language("en")
@pytest.mark.usefixtures("shared_ids")
def test_a_document_whose_title_is_meant_is_said_to_be_searched(language):
    page = SearchPage(language, q="休暇規程には何がありますか")
    assert "休暇規程" in page.named_documents
    assert page.words["state.ready"] in page.named_documents
    assert page.words["search.chunks_searched"].format(count=2) in page.named_documents
    assert "出張旅費規程" not in page.named_documents


@one_language("ja")
def test_where_nothing_is_loaded_the_page_says_so(engine, language):
    page = SearchPage(language, q="日当")
    assert page.words["search.nothing_loaded"] in page.text
    engine.store.create_index("empty")
    page = SearchPage(language, q="日当")
    assert page.words["search.nothing_loaded"] in page.text


@one_language("en")
def test_where_nothing_is_ready_the_page_says_why(engine, tmp_path, language):
    (file := tmp_path / "scan.pdf").write_bytes(PdfFile([[]]).content())
    assert engine.store.add("handbook", file, file.name).error is not None
    page = SearchPage(language, q="scan")
    assert EmptyIndex(index="handbook").sentence(language) in page.text
    assert NoText(name="scan.pdf").sentence(language) in page.named_documents


@one_language("en")
@pytest.mark.usefixtures("ids")
def test_when_the_embedding_service_fails_the_keyword_side_still_finds(server, language, monkeypatch):
    server_of_vectors(server, monkeypatch)
    server.fails(Refusal(500, "Traceback (most recent call last)"))
    before = len(server.requests)
    page = SearchPage(language, q="日当")
    sentence = ServiceFailed(host=host_of(server.base_url), status=500).sentence(language)
    assert sentence in page.column("vector")
    assert sentence in page.column("hybrid")
    first = page.hits("keyword")[0]
    assert first.path == "出張旅費規程 › 日当"
    assert first.ranks == ""  # no rank is shown for a side that did not search
    assert "Traceback" not in page.html
    asked = [request for request in server.requests[before:] if request.path == EMBEDDINGS]
    assert len(asked) == 1  # the hybrid search would get the same error, so it does not ask again


def server_of_vectors(server, monkeypatch) -> None:
    """Re-indexes with the embeddings of the service."""
    monkeypatch.setenv("EMBEDDING_MODEL", "test-embedding")
    restart().store.reindex("handbook").wait()


@pytest.mark.soak
@one_language("ja")
@pytest.mark.usefixtures("ids")
def test_under_another_embedding_model_the_keyword_side_still_finds(language, monkeypatch):
    monkeypatch.setenv("EMBEDDING_MODEL", "another-model")
    engine = restart()
    [index] = engine.store.indexes()
    page = SearchPage(language, q="日当")
    sentence = EmbeddingModelMismatch(
        index="handbook", quoted="handbook", made_with=index.embedding_model, present="another-model"
    ).sentence(language)
    assert sentence in page.column("vector")
    assert page.hits("keyword")


def test_the_address_says_the_search(engine, ids, tmp_path):
    add(engine, tmp_path, "other.md", TRAVEL, index="other")
    page = SearchPage(q="日当", index="other", unit="section", k="1")
    assert page.app.text_input(key="search q").value == "日当"
    assert page.app.selectbox(key="search index").value == "other"
    assert page.app.number_input(key="search k").value == 1
    [hit] = page.hits("keyword")
    assert "other.md" in hit.text


@pytest.mark.usefixtures("shared_ids")
def test_words_of_their_own_for_the_keyword_side_come_with_the_address_and_can_be_changed():
    page = SearchPage(q="日当はいくら", words="green car")
    assert page.hits("keyword")[0].path == "出張旅費規程 › Trains"
    assert "日当" not in page.analysis
    page.app.text_input(key="search words").set_value("")
    page.look()
    assert page.hits("keyword")[0].path == "出張旅費規程 › 日当"
    assert "words" not in page.address


def test_what_is_chosen_goes_into_the_address(engine, ids, tmp_path):
    add(engine, tmp_path, "other.md", TRAVEL, index="other")
    page = SearchPage(doc=ids[0], index="handbook").ask("  green car ")
    page.app.number_input(key="search k").set_value(3)
    page.look()
    page.app.selectbox(key="search index").set_value("other")
    page.look()
    assert page.address == {"lang": ["en"], "q": ["  green car "], "index": ["other"], "k": ["3"]}
    assert "other.md" in page.hits("keyword")[0].text
    page.ask("")
    assert "q" not in page.address
    assert page.words["search.hint"] in page.text


@pytest.mark.soak
@pytest.mark.usefixtures("shared_ids")
def test_a_widget_that_the_browser_draws_without_its_value_falls_back_to_what_the_address_says(engine, ids):
    app = SearchPage("en", q="green car", k="3", unit="section", doc=[ids[0]]).look().app
    assert app.text_input(key="search q").proto.default == "green car"
    assert app.number_input(key="search k").proto.default == 3
    [unit] = [each for each in app.get("button_group") if each.proto.id.endswith("search unit")]
    assert list(unit.proto.default) == [UNITS.index("section")]
    documents = app.multiselect(key="search doc").proto
    assert [documents.options[each] for each in documents.default] == ["出張旅費規程 · travel.md"]


@pytest.mark.usefixtures("shared_ids")
def test_what_an_address_says_that_is_not_there_counts_for_nothing():
    page = SearchPage(q="日当", index="gone", unit="<b>", k="many", doc=["gone", HOSTILE])
    assert page.app.number_input(key="search k").value == 10
    assert page.app.multiselect(key="search doc").value == []
    assert page.hits("hybrid")
    for k in ("99999", "9" * 5000):
        assert SearchPage(q="日当", k=k).app.number_input(key="search k").value == 30


@pytest.mark.usefixtures("shared_ids")
def test_a_press_on_search_in_the_sidebar_begins_a_search_that_keeps_nothing_of_the_one_before():
    page = SearchPage(q="日当", unit="section", k="3").follow("app.search")
    assert page.words["search.hint"] in page.text
    assert page.app.text_input(key="search q").value == ""
    assert page.app.number_input(key="search k").value == 10
    assert not {"q", "unit", "k"} & page.address.keys()


@pytest.mark.soak
def test_a_search_in_the_index_that_another_page_has_picked_is_the_same_for_a_colleague(engine, ids, tmp_path):
    add(engine, tmp_path, "other.md", TRAVEL, index="other")
    page = SearchPage()
    page.app.session_state.picked_index = "other"
    page.go("search", lang="en").ask("green car")
    colleague = SearchPage(**page.address)
    assert "other.md" in colleague.hits("keyword")[0].text


@pytest.mark.soak
def test_when_an_index_is_deleted_elsewhere_another_one_is_searched(engine, ids, tmp_path):
    add(engine, tmp_path, "other.md", TRAVEL, index="other")
    page = SearchPage(q="日当", index="handbook")
    engine.store.delete_index("handbook")
    assert "other.md" in page.look().hits("keyword")[0].text


@one_language("en")
def test_an_address_with_an_index_that_is_not_there_is_told_and_another_one_is_searched(
    engine, ids, tmp_path, language
):
    add(engine, tmp_path, "other.md", TRAVEL, index="other")
    warning = UnknownIndex(index="*rules*", known="handbook, other").sentence(language)
    page = SearchPage(language, q="日当", index="*rules*")
    assert [shown(each.value) for each in page.app.warning] == [warning]
    assert page.hits("keyword")
    assert not SearchPage(language, q="日当", index="other").app.warning


def test_words_of_documents_and_of_questions_stay_words(engine, tmp_path):
    name = "hostile.html"
    escaped = HOSTILE.replace("&", "&amp;").replace("<", "&lt;")
    text = f"<title>{escaped}</title><h1>{escaped}</h1><p>日当 {escaped}</p>"
    for each in (name, "copy.html"):
        add(engine, tmp_path, each, text)
    page = SearchPage(q=f"日当 {HOSTILE}")
    html = page.page
    assert not list(html.iter("img", "iframe", "object", "form"))
    assert [each.text for each in html.iter("script")] == [
        SCRIPTS[each].removeprefix("<script>").removesuffix("</script>")
        for each in ("translate_streamlit", *ON_EVERY_PAGE)
    ]
    assert not {name for each in html.iter() for name in each.attrib if name.startswith("on")}
    assert all(each.get("href").startswith(("documents?", "originals/")) for each in html.iter("a"))
    first = page.hits("keyword")[0]
    assert "<img src=x onerror=alert(2)>" in first.card.text_content()
    assert "<script>" in first.path


def test_a_passage_of_a_pdf_in_a_mail_links_to_the_mail_without_a_page(engine, tmp_path):
    mail = EmailMessage()
    mail["Subject"] = "Terms"
    mail.set_content("Please see the terms.")
    content = PdfFile(
        [[Text(50, 700, "Terms of delivery")], [Text(50, 700, "The warranty lasts four years")]]
    ).content()
    mail.add_attachment(content, maintype="application", subtype="pdf", filename="terms.pdf")
    add(engine, tmp_path, "mail.eml", mail.as_string())
    page = SearchPage(q="warranty")
    assert "terms.pdf › " + page.words["detail.page"].format(page=1) in page.hits("keyword")[0].path
    originals = [each.get("href") for each in page.page.iter("a") if each.get("href").startswith("originals/")]
    assert originals
    assert not [each for each in originals if "#" in each]


@one_language("ja")
def test_a_glossary_keeps_its_terms_whole(engine, tmp_path, language):
    add(
        engine,
        tmp_path,
        "x.md",
        "# 属性\n\n## X'バタン\n\nX'バタンは左右の傾きを決めます。\n\n## Yバタン\n\nYバタンは上下です。\n",
    )
    page = DocumentsPage(language, index="handbook")
    assert page.words["index.glossary_help"] in page.text
    page.write("index.glossary", "X'バタン\n\nYバタン\n").press("index.glossary_save")
    assert engine.store.glossary("handbook").split() == ["X'バタン", "Yバタン"]
    words = SearchPage(language, q="X'バタンとは").analysis
    assert texts(language)["search.whole_one"] in words["X'バタン"]
    assert texts(language)["search.within"] in words["バタン"]

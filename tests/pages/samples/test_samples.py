"""The sample handbook: it answers its questions, its sections have a useful length, and its facts agree."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from pydantic import ValidationError

from index_store.access.principal import Role
from index_store.base.errors import EditorNeeded, RightMissing
from pages import samples
from pages.samples import faults
from pages.texts import texts
from rag.runs.engine import UserEngine
from tests.helpers.local import as_person

LONGEST_SECTION = {"ja": 900, "en": 2300}
"""characters under one h2: about 600 tokens, so that four sections and an answer fit a small context window"""

SHORTEST_SECTION = {"ja": 120, "en": 300}
"""characters under one h2: a shorter section can't be understood alone"""

DESKS = {
    "総務課": "General Affairs",
    "経理課": "Accounting",
    "出張手配デスク": "Travel Desk",
    "人事課": "Human Resources",
    "ITサービスデスク": "IT Service Desk",
    "情報セキュリティ事務局": "Security Office",
    "緊急連絡窓口": "Emergency Line",
    "購買課": "Purchasing",
    "カスタマーサポート": "Customer Support",
}

LOOK_ALIKES = [
    "Xパタン",
    "Yパタン",
    "Zパタン",
    "X'パタン",
    "Y'パタン",
    "XYパタン",
    "Xバタン",
    "Yバタン",
    "X'バタン",
]
"""attributes of the product that differ by one or two characters"""


def language(document: Path) -> str:
    return document.suffixes[0].lstrip(".")


@cache
def soup(document: Path) -> BeautifulSoup:
    text = document.read_text(encoding="utf-8")
    html = MarkdownIt().enable("table").render(text) if document.suffix == ".md" else text
    return BeautifulSoup(html, "html.parser")


def headings(document: Path, level: str) -> list[str]:
    return [heading.get_text() for heading in soup(document).find_all(level)]


def sections(document: Path) -> dict[str, str]:
    """The text under each h2, by its heading."""
    found = {}
    for heading in soup(document).find_all("h2"):
        below = []
        for sibling in heading.find_next_siblings():
            if sibling.name == "h2":
                break
            below.append(sibling.get_text())
        found[heading.get_text()] = "\n".join(below).strip()
    return found


def by_name(name: str) -> Path:
    return next(document for document in samples.documents() if document.name == name)


ANSWERED = [question for question in samples.questions() if question.document]

each_document = pytest.mark.parametrize("document", samples.documents(), ids=lambda document: document.name)
each_answered = pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.text)


def test_there_are_a_dozen_documents_in_two_languages_and_two_formats():
    documents = samples.documents()
    assert len(documents) >= 12
    assert Counter(map(language, documents)).keys() == {"ja", "en"}
    assert min(Counter(map(language, documents)).values()) >= 5
    assert {document.suffix for document in documents} == {".md", ".html"}


@each_document
def test_a_document_has_one_title_and_several_sections_with_their_own_headings(document: Path):
    assert len(headings(document, "h1")) == 1
    chapters = headings(document, "h2")
    assert len(chapters) >= 5
    assert len(set(chapters)) == len(chapters)


def test_no_two_documents_share_a_title():
    titles = [headings(document, "h1")[0] for document in samples.documents()]
    assert len(set(titles)) == len(titles)


@each_document
def test_a_section_is_long_enough_to_make_sense_and_short_enough_to_be_read_by_a_small_model(document: Path):
    shortest, longest = SHORTEST_SECTION[language(document)], LONGEST_SECTION[language(document)]
    out_of_bounds = {
        heading: len(text) for heading, text in sections(document).items() if not shortest <= len(text) <= longest
    }
    assert out_of_bounds == {}


@each_document
def test_a_document_is_of_real_length(document: Path):
    text = soup(document).get_text()
    if language(document) == "ja":
        assert 2200 <= len(re.sub(r"\s", "", text)) <= 6000
    else:
        assert 1000 <= len(text.split()) <= 2200


@each_answered
def test_an_answer_stands_word_for_word_in_its_document(question: samples.SampleQuestion):
    assert question.answer in soup(by_name(question.document)).get_text()


@each_answered
def test_an_answer_can_be_read_in_one_section(question: samples.SampleQuestion):
    found = sections(by_name(question.document))
    assert any(question.answer in heading + "\n" + text for heading, text in found.items())


def test_questions_come_in_both_languages_and_some_cross_to_a_document_in_the_other():
    asked = samples.questions()
    assert {question.language for question in asked} == {"ja", "en"}
    assert any(question.language != language(by_name(question.document)) for question in ANSWERED)


def test_every_pipeline_has_a_question_and_no_question_comes_twice():
    asked = samples.questions()
    assert {q.pipeline for q in asked} == {"naive", "self_rag", "hybrid", "multivector", "corrective", "adaptive"}
    assert len({question.text for question in asked}) == len(asked)


def test_one_question_of_self_rag_has_no_answer_in_the_handbook():
    assert [q.answer for q in samples.questions() if q.pipeline == "self_rag"].count("") == 1


def test_a_question_says_in_either_language_what_it_shows():
    for question in samples.questions():
        assert re.search(r"[ぁ-ん]", question.shows("ja"))
        assert question.shows("en").isascii()


def test_the_samples_name_things_as_the_pages_do():
    """Both stand on the first page. The words are other names of passage, chunk, section, handbook and question."""
    said = [*(question.shows("ja") for question in samples.questions()), *texts("ja").values()]
    other_names = re.compile(r"段落|断片|節|手引き|問い")
    without_space = re.compile(r"[A-Za-z0-9][ぁ-ヺー一-鿿]|[ぁ-ヺー一-鿿][A-Za-z0-9]")
    assert [text for text in said if other_names.search(text) or without_space.search(text)] == []


def test_an_answer_without_its_document_is_refused():
    with pytest.raises(ValidationError, match="go together"):
        samples.SampleQuestion(
            text="?", language="en", pipeline="naive", shows_ja="あ", shows_en="a", answer="12mm", document=None
        )


def test_each_look_alike_attribute_has_a_section_with_its_values_and_its_default():
    manual = sections(by_name("shimamiru-300-attributes.ja.md"))
    for attribute in LOOK_ALIKES:
        text = manual[attribute]
        assert text.startswith(attribute)
        assert "既定値は" in text
        assert "許容値は" in text or "値はオン、オフ、自動" in text


def test_the_table_of_attributes_agrees_with_their_sections():
    manual = by_name("shimamiru-300-attributes.ja.md")
    table = next(t for t in soup(manual).find_all("table") if "既定値" in t.get_text())
    defaults = {row[0].get_text(): row[3].get_text() for tr in table.find_all("tr")[1:] if (row := tr.find_all("td"))}
    assert list(defaults) == LOOK_ALIKES
    for attribute, default in defaults.items():
        assert re.search(rf"既定値は{default}", sections(manual)[attribute])


def test_a_desk_has_the_same_extension_wherever_it_is_named():
    desks = next(t for t in soup(by_name("office-guide.ja.md")).find_all("table") if "内線" in t.get_text())
    listed = {row[0].get_text(): row[1].get_text() for tr in desks.find_all("tr")[1:] if (row := tr.find_all("td"))}
    listed |= {DESKS[desk]: extension for desk, extension in listed.items()}

    japanese = re.compile(rf"({'|'.join(DESKS)})\uff08内線(\d{{4}})")
    english = re.compile(rf"({'|'.join(DESKS.values())}) \(ext\. (\d{{4}})")
    texts = [soup(document).get_text() for document in samples.documents()]
    named = [pair for text in texts for pair in japanese.findall(text) + english.findall(text)]

    assert len(named) == sum(len(re.findall(r"\uff08内線|\(ext\. ", text)) for text in texts) > 20
    assert [(desk, extension) for desk, extension in named if listed[desk] != extension] == []


@each_document
def test_no_address_leads_out_of_the_made_up_company(document: Path):
    text = document.read_text(encoding="utf-8")
    hosts = re.findall(r"[\w-]+(?:\.[\w-]+)*\.(?:example|com|net|org|jp|dev|io)\b", text)
    assert {host.removeprefix("vpn1.").removeprefix("vpn2.") for host in hosts} <= {"nagimine.example"}
    assert not re.search(r"https?://|\d{2,4}-\d{2,4}-\d{4}", text)


@pytest.fixture(scope="module")
def reader(module_engine) -> UserEngine:
    """The engine of somebody who may only read; an editor has loaded the samples."""
    editor, reader = as_person(module_engine, "anna", Role.EDITOR), as_person(module_engine, "ben")
    with pytest.raises(EditorNeeded):
        samples.load(reader.store)
    samples.load(editor.store)
    for job in editor.store.ingestions:
        job.wait()
    samples.load(editor.store)  # loading them twice does no harm
    return reader


def test_everyone_can_read_the_samples_that_an_editor_has_loaded(reader):
    [index] = reader.store.indexes()
    assert (index.name, index.documents) == (samples.INDEX, len(samples.documents()))
    with pytest.raises(RightMissing):
        samples.load(reader.store)


def test_each_code_of_the_handbook_finds_a_passage_that_has_it_first(reader):
    texts = "\n".join(document.read_text(encoding="utf-8") for document in samples.documents())
    codes = sorted(set(re.findall(r"(?<![A-Za-z])[A-Z]{1,2}-\d{1,3}(?!\d)", texts)))
    assert len(codes) > 50
    for code in codes:
        for written in (code, code.replace("-", "")):
            [first] = reader.store.search(samples.INDEX, f"{written}とは何ですか?", mode="keyword", k=1)
            assert re.search(rf"(?<![A-Za-z]){code}(?!\d)", first.text), written


@pytest.mark.parametrize(("locale", "said"), [("C.UTF-8", "a whole number"), ("ja_JP.UTF-8", "整数")])
def test_the_command_of_the_prepared_faults_fails_with_a_sentence_in_the_language_of_the_system(
    tmp_path, monkeypatch, locale, said
):
    for name, value in {"LC_ALL": locale, "DATA_DIR": str(tmp_path / "data"), "MAX_REWRITES": "many"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=rf"MAX_REWRITES.*{said}"):
        faults.main()

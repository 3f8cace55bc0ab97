"""One question, three searches: by vector, by keyword, and by both."""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.full_text import FullText
from index_store.catalogue.indexes import Indexes
from index_store.ingestion.sources import FileSource
from index_store.search.hits import Hit
from index_store.search.searcher import MODES
from index_store.store.index_store import IndexStore
from index_store.vectors.chroma import VectorStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from pages.samples import documents
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text

Write = Callable[..., Path]

RULES = """# 設定属性リファレンス

## Xパタン

Xパタンは帳票の並びを決める属性です。既定値は 3 です。

## Yパタン

Yパタンは帳票の色を決める属性です。既定値は 5 です。

## X'パタン

X'パタンは帳票の順を決める属性です。既定値は 4 です。

## Zパタン

Zパタンは帳票の枠を決める属性です。既定値は 7 です。
"""

ODD = [
    "旅", "あ", "a", "?", "。", "１２３", "ﾊﾟﾀﾝ", "Ｘパタン", "🙂", '" OR NEAR(', "'; DROP TABLE documents; --",
    "* AND NOT (", "title:x", "^", "-", "\u0000x", "\ud800", "Xパタンとpatternと패턴", "パ" * 1000,
    pytest.param("word " * 800, marks=pytest.mark.soak),
]  # fmt: skip


IN_ONE_MODE = [pytest.param(mode, marks=[] if mode == "hybrid" else pytest.mark.soak) for mode in MODES]
"""for tests of what follows on both searches: hybrid asks both"""

ASKED_ABOUT = (
    "information-security.ja.md", "it-guide.en.md", "leave.ja.md", "office-guide.ja.md", "remote-work.en.md",
    "support-faq.en.md", "travel-expenses.ja.md",
)  # fmt: skip
"""of the samples"""
FEW = ("information-security.ja.md", "remote-work.en.md")
"""of these: a document takes more than a second of processor time"""


def texts(hits: list[Hit]) -> list[str]:
    return [hit.text for hit in hits]


def with_rules(folder: Path, embeddings: EmbeddedEmbeddings, **settings: object) -> IndexStore:
    """A store whose index `a` holds RULES."""
    store = IndexStore(Settings(data_dir=folder / "data", **settings), embeddings)
    file = folder / "rules.md"
    file.write_text(RULES, encoding="utf-8")
    store.add("a", file)
    return store


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory, embeddings: EmbeddedEmbeddings) -> Iterator[IndexStore]:
    """For tests that only search."""
    with with_rules(tmp_path_factory.mktemp("rules"), embeddings) as store:
        yield store


def with_samples(names: Sequence[str], folder: Path, embeddings: EmbeddedEmbeddings) -> IndexStore:
    """A store whose index `a` holds these documents, which are in both languages."""
    store = IndexStore(Settings(data_dir=folder / "data"), embeddings)
    for document in documents():
        if document.name in names:
            store.add("a", document)
    return store


@pytest.fixture(scope="module")
def few_samples(tmp_path_factory: pytest.TempPathFactory, embeddings: EmbeddedEmbeddings) -> Iterator[IndexStore]:
    with with_samples(FEW, tmp_path_factory.mktemp("few"), embeddings) as store:
        yield store


@pytest.fixture(scope="module")
def all_samples(tmp_path_factory: pytest.TempPathFactory, embeddings: EmbeddedEmbeddings) -> Iterator[IndexStore]:
    with with_samples(ASKED_ABOUT, tmp_path_factory.mktemp("all"), embeddings) as store:
        yield store


@pytest.fixture
def samples(request: pytest.FixtureRequest) -> IndexStore:
    return request.getfixturevalue(request.param)


@pytest.fixture
def store(serviced: Settings) -> Iterator[IndexStore]:
    """For tests about anything else than the meaning of a question."""
    with IndexStore(serviced) as store:
        yield store


@pytest.fixture
def own_rules(tmp_path: Path, embeddings: EmbeddedEmbeddings) -> Iterator[IndexStore]:
    """For a test that changes something."""
    with with_rules(tmp_path, embeddings) as store:
        yield store


@pytest.mark.parametrize("question", ["Xパタンとは", "ｘﾊﾟﾀﾝについて教えてください", "Xパタンとはどういったものですか"])
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_however_it_is_asked_about_the_very_term_comes_before_those_that_look_alike(
    rules: IndexStore, question: str, mode: str
) -> None:
    first = rules.search("a", question, mode=mode)[0]
    assert first.headings == ("Xパタン",)
    assert first.keyword_rank == 1


def test_each_hit_tells_its_ranks_and_scores_on_both_sides(rules: IndexStore) -> None:
    vector, keyword, hybrid = (rules.search("a", "Yパタンの色", mode=mode, k=4) for mode in MODES)
    assert [(hit.vector_rank, hit.keyword_rank) for hit in vector] == [(rank, None) for rank in (1, 2, 3, 4)]
    assert [(hit.vector_rank, hit.keyword_rank) for hit in keyword] == [(None, rank) for rank in (1, 2, 3, 4)]
    assert all(hit.score == hit.vector_score and hit.keyword_score is None for hit in vector)
    assert all(hit.score == hit.keyword_score and hit.vector_score is None for hit in keyword)
    ranks = {hit.chunk_id: hit.rank for hit in vector}, {hit.chunk_id: hit.rank for hit in keyword}
    for hit in hybrid:
        assert (hit.vector_rank, hit.keyword_rank) == (ranks[0][hit.chunk_id], ranks[1][hit.chunk_id])
    assert [hit.score for hit in hybrid] == sorted((hit.score for hit in hybrid), reverse=True)


def test_by_rank_a_score_is_what_reciprocal_rank_fusion_says(tmp_path: Path, embeddings: EmbeddedEmbeddings) -> None:
    with with_rules(tmp_path, embeddings, fusion="rank", keyword_weight=0.5) as store:
        hits = store.search("a", "Zパタンの枠", mode="hybrid", k=3)
        assert len(hits) == 3
        for hit in hits:
            assert hit.vector_rank
            assert hit.keyword_rank
            assert hit.score == pytest.approx(0.5 / (60 + hit.vector_rank) + 0.5 / (60 + hit.keyword_rank), abs=1e-6)


def test_words_that_no_passage_holds_find_nothing_by_keyword(rules: IndexStore) -> None:
    assert rules.search("a", "zebra", mode="keyword") == []
    by_both = rules.search("a", "zebra", mode="hybrid", k=2)
    assert [hit.keyword_rank for hit in by_both] == [None, None]


def test_words_of_ones_own_replace_the_question_on_the_keyword_side(rules: IndexStore) -> None:
    hit = rules.search("a", "帳票について", mode="keyword", words=["Zパタン"], k=1)[0]
    assert hit.headings == ("Zパタン",)


@pytest.mark.parametrize("mode", MODES)
def test_only_the_documents_wanted_are_searched(store: IndexStore, write: Write, mode: str) -> None:
    for name in ("apples.md", "pears.md"):
        store.add("a", write(name, sections=3))
    pears = next(each for each in store.documents("a") if each.title == "pears.md")
    hits = store.search("a", "What does apples.md say?", mode=mode, k=10, document_ids=[pears.id])
    assert {hit.document_id for hit in hits} == {pears.id}
    assert store.search("a", "apples", mode=mode, document_ids=["gone"]) == []
    assert store.search("a", "apples", mode=mode, document_ids=[]) == []


@pytest.mark.parametrize("mode", IN_ONE_MODE)
def test_there_are_as_many_sections_as_wanted_however_many_chunks_share_one(
    serviced: Settings, tmp_path: Path, mode: str
) -> None:
    notes = (f"### Note {i}\n\nThe kettle {i} whistles. {'Water boils in it. ' * 12}\n" for i in range(300))
    shelves = (f"## Shelf {i}\n\nShelf {i} is for plates, and far from any kettle.\n" for i in range(4))
    file = tmp_path / "kitchen.md"
    file.write_text("\n".join(["# Kitchen", "## Kettles", *notes, *shelves]), encoding="utf-8")
    with IndexStore(serviced) as store:
        added = store.add("a", file)
        assert added.chunks > 4 * added.sections
        hits = store.search("a", "kettle whistles", mode=mode, unit="section", k=added.sections - 1)
        assert len({hit.section_id for hit in hits}) == len(hits) == added.sections - 1
        for hit in hits:
            section = store.section(hit.section_id)
            assert (hit.text, hit.start, hit.end) == (section.text, 0, len(section.text))
            assert section.text[hit.best_start : hit.best_end].strip()


def test_a_section_over_several_pages_has_the_page_of_the_chunk_that_was_found(
    store: IndexStore, tmp_path: Path
) -> None:
    pages = [
        [Text(50, 640 - 15 * line, f"Rule {page}{line:02} is about hotel bills and travel.") for line in range(15)]
        for page in range(1, 5)
    ]
    for page, heading in ((0, "Hotels"), (3, "Appendix")):
        pages[page].insert(0, Text(50, 720, heading, 18))
    (tmp_path / "rules.pdf").write_bytes(PdfFile(pages, [("Hotels", 0), ("Appendix", 3)]).content())
    store.add("a", tmp_path / "rules.pdf")
    [chunk] = store.search("a", "Rule 307", mode="keyword", k=1)
    [section] = store.search("a", "Rule 307", mode="keyword", unit="section", k=1)
    assert store.section(section.section_id).page == 1
    assert (section.best_start, section.best_end) == (chunk.start, chunk.end)
    assert section.page == chunk.page == 2  # where the chunk begins


def test_a_text_that_stands_in_two_places_is_shown_once_with_the_other_named(store: IndexStore, tmp_path: Path) -> None:
    notice = "This notice is for staff of every office: lock your screen when you leave your desk, even for a minute."
    for name, text in {"a.md": notice, "b.md": f"{notice}\n", "c.md": "Lock the door of the kitchen at night."}.items():
        (tmp_path / name).write_text(f"# Notice\n\n{text}", encoding="utf-8")
        store.add("a", tmp_path / name)
    for mode in MODES:
        first, *others = store.search("a", "lock your screen when you leave", mode=mode, k=5)
        assert [Path(copy.source).name for copy in first.copies] == [
            "b.md" if first.source.endswith("a.md") else "a.md"
        ]
        assert notice not in texts(others)


@pytest.mark.parametrize(
    "rules",
    [
        ("一日につき2500円とする", "一日につき3000円とする"),
        # Without a search: test_near_duplicates.py.
        *(
            pytest.param(rules, marks=pytest.mark.soak)
            for rules in (
                ("一日につき二千五百円とする", "一日につき三千円とする"),
                ("翌年に繰り越すことができる", "翌年に繰り越すことができない"),
                ("It may be carried over", "It may not be carried over"),
                ("It may be paid in advance", "It can't be paid in advance"),
            )
        ),
    ],
)
def test_texts_that_differ_in_a_number_or_a_negation_are_two(
    store: IndexStore, tmp_path: Path, rules: tuple[str, str]
) -> None:
    for number, rule in enumerate(rules):
        file = tmp_path / f"{number}.md"
        file.write_text(
            "日当は、出張の期間に応じて支給する。支給の対象は、所属長の承認を受けた出張とし、支給の時期は、精算の申請が承認された月の"
            "翌月の給与の支給日とする。出張の期間に休日を含むときも、同じ額を支給する。"
            f"その額については、次のとおりとする。{rule}。ただし、社用車による出張については、この限りでない。",
            encoding="utf-8",
        )
        store.add("a", file)
    assert len(store.search("a", "日当の額", mode="hybrid")) == 2


RECEPTION = (
    "{}支店の受付は、平日の9時から17時30分までです。来客があるときは、前日の17時までに来客登録システムへ氏名、会社名、人数を登録します。"
    "登録すると、受付で名札がすぐに受け取れます。駐車場が必要なときは、備考欄に車の台数を書いてください。"
)
NOTICE_PERIOD = (
    "An {} must tell the head of the department in writing when leaving, at the latest one month before the last day. "
    "All keys, badges, laptops and telephones are returned on the last day, and the accounts are closed that evening."
)


@pytest.mark.parametrize("mode", IN_ONE_MODE)
@pytest.mark.parametrize(
    ("notice", "names", "question", "another"),
    [
        (RECEPTION, ("東京", "大阪"), "東京支店と大阪支店の受付時間は?", "来客登録システムの使い方は?"),
        (RECEPTION, ("東京", "大阪"), "大阪の受付時間は?", "駐車場が必要なときは?"),
        (NOTICE_PERIOD, ("intern", "agent"), "When do interns return the keys?", "When are the keys returned?"),
    ],
)
def test_texts_that_differ_in_a_word_of_the_question_are_two(
    store: IndexStore, tmp_path: Path, mode: str, notice: str, names: tuple[str, str], question: str, another: str
) -> None:
    for name in names:
        file = tmp_path / f"{name}.md"
        file.write_text(notice.format(name), encoding="utf-8")
        store.add("a", file)
    assert len(store.search("a", question, mode=mode)) == 2
    assert len(store.search("a", another, mode=mode)) == 1


@pytest.mark.parametrize("mode", ["vector", "keyword", pytest.param("hybrid", marks=pytest.mark.soak)])
def test_rows_of_a_long_table_are_found_by_the_names_of_its_columns_too(
    settings: Settings, embeddings: EmbeddedEmbeddings, tmp_path: Path, mode: str
) -> None:
    header = "| 等級 | 国内の日当 | 海外の日当 |\n| --- | --- | --- |\n"
    rows = "".join(f"| 等級{n} | {n}500円 | {n}ドル |\n" for n in range(20, 50))
    (tmp_path / "rates.md").write_text(f"# 別表\n\n{header}{rows}", encoding="utf-8")
    with IndexStore(settings, embeddings) as store:
        added = store.add("a", tmp_path / "rates.md")
        first = store.search("a", "等級45の海外の日当", mode=mode)[0]
        assert added.chunks > 1
        assert "| 等級45 |" in first.text
        assert first.header == header
        assert store.section(first.section_id).text[first.start : first.end] == first.text


def test_a_passage_within_a_long_table_says_what_its_figures_are_in(store: IndexStore, tmp_path: Path) -> None:
    header = "（単位：千円）\n\n| 部署 | 売上 |\n| --- | --- |\n"
    rows = "".join(f"| 第{n}営業部 | {n}500 |\n" for n in range(10, 90))
    (tmp_path / "sales.md").write_text(f"# 実績\n\n{header}{rows}", encoding="utf-8")
    store.add("a", tmp_path / "sales.md")
    first = store.search("a", "第75営業部の売上", mode="keyword")[0]
    assert "| 75500 |" in first.text
    assert first.header == header


@pytest.mark.parametrize("mode", IN_ONE_MODE)
@pytest.mark.parametrize("question", ODD)
def test_any_question_is_answered_with_hits_or_with_none(rules: IndexStore, question: str, mode: str) -> None:
    hits = rules.search("a", question, mode=mode)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert hits == rules.search("a", question, mode=mode)


def test_half_width_kana_and_full_width_digits_find_what_is_written_the_usual_way(rules: IndexStore) -> None:
    assert rules.search("a", "ﾁｮｳﾋｮｳ ﾊﾟﾀﾝ", mode="keyword") == rules.search("a", "チョウヒョウ パタン", mode="keyword")
    assert rules.search("a", "既定値７", mode="keyword", k=1)[0].headings == ("Zパタン",)


def test_an_unknown_mode_or_unit_is_told_with_those_there_are(rules: IndexStore) -> None:
    with pytest.raises(errors.UnknownMode, match="vector, keyword, hybrid"):
        rules.search("a", "x", mode="both")
    with pytest.raises(errors.UnknownUnit, match="chunk, section"):
        rules.search("a", "x", unit="page")


def test_keywords_need_no_embedding_model(serviced: Settings, write: Write) -> None:
    with IndexStore(serviced) as store:
        store.ingest("a", [FileSource(write("apples.md"))]).wait()
    with IndexStore(serviced.model_copy(update={"embedding_model": "model-b"})) as store:
        assert store.search("a", "apples", mode="keyword")
        for mode in ("vector", "hybrid"):
            with pytest.raises(errors.EmbeddingModelMismatch):
                store.search("a", "apples", mode=mode)


def test_a_term_of_the_glossary_is_searched_as_a_whole_from_now_on(own_rules: IndexStore) -> None:
    analysis = own_rules.analyse("a", "属性リファレンスとは")
    assert "属性リファレンス" not in analysis.kept
    own_rules.set_glossary("a", "属性リファレンス\nXパタン\n")
    assert own_rules.analyse("a", "属性リファレンスとは").kept == ("属性リファレンス",)
    assert own_rules.glossary("a") == "属性リファレンス\nXパタン\n"
    assert own_rules.search("a", "Xパタン", mode="keyword", k=1)[0].headings == ("Xパタン",)
    assert own_rules.check() == []


def test_a_file_of_an_archive_is_found_by_the_name_of_its_folder(store: IndexStore, tmp_path: Path) -> None:
    file = tmp_path / "rules.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for year, yen in (("2024年度", 2000), ("2025年度", 3000), ("2026年度", 4000)):
            archive.writestr(f"{year}/旅費規程.txt", f"日当は{yen}円です。")
    store.ingest("a", [FileSource(file)]).wait()

    def first(mode: str) -> str:
        return store.search("a", "2025年度の旅費規程の日当", mode=mode, k=1)[0].text

    assert [first(mode) for mode in MODES] == ["日当は3000円です。"] * len(MODES)
    store.set_glossary("a", "旅費規程\n")  # builds the full text again
    assert first("keyword") == "日当は3000円です。"


EXPENSES = (
    "経費の申請は、経費システムから月末までに提出してください。領収書の原本は台紙に貼り、総務の受付にある箱へ入れます。"
    "上長の承認が済むと、翌月の給与と一緒に振り込まれます。承認が遅れたときは、その次の月の支払いになります。"
    "台紙は受付の棚から取ってください。差し戻された申請は、理由を直してからもう一度提出します。"
    "不明な点は、経費の担当の{}までお問い合わせください。"
)


@pytest.mark.parametrize("mode", IN_ONE_MODE)
def test_texts_of_two_places_are_two_if_the_question_names_one_of_the_places(
    store: IndexStore, tmp_path: Path, mode: str
) -> None:
    for place, name in {"東京支社": "田中", "大阪支社": "佐藤"}.items():
        file = tmp_path / f"{place}.md"
        file.write_text(f"# {place}\n\n{EXPENSES.format(name)}", encoding="utf-8")
        store.add("a", file)
    found = store.search("a", "大阪支社で経費を担当しているのは誰ですか", mode=mode, k=4)
    assert [len(found), *(hit.copies for hit in found)] == [2, (), ()]


def test_what_matched_can_be_shown_where_it_stands(rules: IndexStore) -> None:
    hit = rules.search("a", "ｙﾊﾟﾀﾝの色は?", mode="keyword", k=1)[0]
    spans = rules.matcher("a", rules.analyse("a", "ｙﾊﾟﾀﾝの色は?"))(hit.text)
    assert [hit.text[start:end] for start, end in spans] == ["Yパタン", "色"]


def test_it_is_known_in_how_many_chunks_each_word_of_a_question_stands(store: IndexStore, tmp_path: Path) -> None:
    texts = {"a": "日当は二千円です。\n\n## 日当\n\n半額", "b": "宿泊の日程とapples", "c": "An apple"}
    ids = {}
    for name, text in texts.items():
        file = tmp_path / f"{name}.md"
        file.write_text(f"# {name.upper()}\n\n{text}\n", encoding="utf-8")
        ids[name] = store.add("a", file).document_id
    analysis = store.analyse("a", "日当 apple 宿泊費用 zebra")

    def counted(*names: str) -> dict[str, int]:
        known = store.count_words("a", analysis, [ids[name] for name in names] or None)
        return {term: count.chunks for term, count in known.items() if count.chunks}

    assert counted() == {"日当": 2, "appl": 2, "宿泊": 1}
    assert counted("a", "c") == {"日当": 2, "appl": 1}
    store.remove_documents([ids["a"]])
    assert counted() == {"appl": 2, "宿泊": 1}
    assert counted("a") == {}


def test_a_word_that_stands_nowhere_may_have_its_characters_there(own_rules: IndexStore) -> None:
    own_rules.set_glossary("a", "Xパタン表\n")
    counts = own_rules.count_words("a", own_rules.analyse("a", "Xパタン表 zebra"))
    assert [(each.chunks, each.has_parts) for each in counts.values()] == [(0, True), (0, False)]


def test_a_word_with_hyphens_may_be_written_apart_everywhere(store: IndexStore, tmp_path: Path) -> None:
    (tmp_path / "staff.md").write_text("# Staff\n\nThose who work part time get a bonus.", encoding="utf-8")
    store.add("a", tmp_path / "staff.md")
    question = "part-time and on-site bonus"
    counts = store.count_words("a", store.analyse("a", question))
    assert {term: (each.chunks, each.has_parts) for term, each in counts.items()} == {
        "parttim": (0, True), "onsit": (0, False), "bonus": (1, False),
    }  # fmt: skip
    survey = store.survey("a", question, k=1)
    assert (survey.words, survey.absent) == (("part-time", "on-site", "bonus"), ("on-site",))
    assert store.survey("a", "part-time", k=1).shares == (pytest.approx(0.7),)


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("社用車は私用で使えないのですか", ("社用", "車", "私用", "使える")),
        ("本を借りたければ、寒かった日でも届きますか", ("本", "借りる", "寒い", "日", "届く")),
        ("勤続何年のとき、何を取れる場合がありますか", ("勤続", "取れる")),
        ("何の年に創立しましたか", ("年", "創立")),
        ("Where do visitors park?", ("visitors", "park")),
    ],
)
def test_words_that_no_document_has_are_named_as_dictionaries_list_them(
    rules: IndexStore, question: str, absent: tuple[str, ...]
) -> None:
    assert rules.survey("a", question, k=1).absent == absent


@pytest.mark.parametrize(
    ("mode", "side", "asking"), [("vector", VectorStore, "nearest"), ("keyword", FullText, "find")]
)
def test_a_document_that_is_replaced_in_the_midst_of_a_search_is_found(
    tmp_path: Path,
    embeddings: EmbeddedEmbeddings,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    side: type,
    asking: str,
) -> None:
    with with_rules(tmp_path, embeddings) as store:
        store.add("a", write("apples.md"))
        ask = getattr(side, asking)
        answers: list[object] = []

        def replace_after(*arguments: object, **options: object) -> object:
            answers.append(ask(*arguments, **options))
            if len(answers) == 1:
                assert store.add("a", write("apples.md", words="Once more.")).status == "ready"
            return answers[-1]

        monkeypatch.setattr(side, asking, replace_after)
        hit = store.search("a", "What does apples.md say?", mode=mode, k=1)[0]
        assert "Once more." in hit.text
        assert len(answers) == 2


def test_the_first_document_of_an_emptied_index_that_becomes_ready_in_the_midst_of_a_search_is_found(
    serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStore(serviced) as store:
        file = write("apples.md")
        store.add("a", file)
        store.remove("a", str(file))
        ask, answers = VectorStore.nearest, []

        def add_after(*arguments: object, **options: object) -> object:
            answers.append(ask(*arguments, **options))
            if len(answers) == 1:
                assert store.add("a", file).status == "ready"
            return answers[-1]

        monkeypatch.setattr(VectorStore, "nearest", add_after)
        [hit] = store.search("a", "What does apples.md say?")
        assert hit.source == str(file)
        assert answers[0] == []


@pytest.mark.parametrize("mode", MODES)
def test_the_first_document_of_an_index_that_becomes_ready_in_the_midst_of_a_search_is_found(
    serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    with IndexStore(serviced) as store:
        store.create_index("a")
        file, ask, asked = write("apples.md"), Indexes.has_chunks, []

        def add_before(*arguments: object) -> bool:
            asked.append(arguments)
            if len(asked) == 1:
                assert store.add("a", file).status == "ready"
            return ask(*arguments)

        monkeypatch.setattr(Indexes, "has_chunks", add_before)
        [hit] = store.search("a", "What does apples.md say?", mode=mode)
        assert hit.source == str(file)


def test_removed_documents_are_found_by_no_search(own_rules: IndexStore, write: Write) -> None:
    own_rules.add("a", write("apples.md"))
    document = next(each for each in own_rules.documents("a") if each.title == "apples.md")
    own_rules.remove_documents([document.id])
    assert own_rules.search("a", "apples", mode="keyword") == []
    assert own_rules.check() == []


def asked(few: list[tuple[str, str]], others: list[tuple[str, str]]) -> pytest.MarkDecorator:
    """Questions with the heading of what answers them: `few` about FEW; in `make soak`, all about ASKED_ABOUT."""
    every = [pytest.param("all_samples", *each, marks=pytest.mark.soak) for each in (*few, *others)]
    return pytest.mark.parametrize(
        ("samples", "question", "heading"), [*(("few_samples", *each) for each in few), *every], indirect=["samples"]
    )


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
@asked(
    [
        ("カフェで仕事をしてもいいですか", "The workplace at home"),
        ("May I use my own USB stick?", "USBメモリと外部記憶媒体"),
    ],
    [
        ("週に何日まで在宅勤務ができますか", "How many days"),
        ("在宅勤務用のモニターは借りられますか", "Equipment on loan"),
        ("By when must I settle a business trip?", "第7条 出張後の精算"),
        ("What do I do with a suspicious e-mail?", "メールの誤送信と不審なメール"),
    ],
)
def test_what_answers_in_the_other_language_is_found_among_many_passages_in_that_of_the_question(
    samples: IndexStore, question: str, heading: str, mode: str
) -> None:
    k = 1 if len(samples.documents("a")) == len(FEW) else 4
    found = samples.search("a", question, mode=mode, k=k)
    assert heading in [hit.headings[0] for hit in found if hit.headings]


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
@asked(
    [
        ("自分のUSBメモリを使ってもいいですか", "USBメモリと外部記憶媒体"),
        ("May I work in a café?", "The workplace at home"),
    ],
    [
        ("How many characters must a company password have at least?", "Password rules"),
        ("祖父母が亡くなったときの忌引休暇は何日ですか？", "忌引休暇"),
        ("会議室はどうやって予約しますか", "会議室の予約"),
        ("How long is the warranty?", "How long is the warranty?"),
    ],
)
def test_what_answers_in_the_language_of_the_question_still_comes_first(
    samples: IndexStore, question: str, heading: str, mode: str
) -> None:
    [hit] = samples.search("a", question, mode=mode, k=1)
    assert heading in hit.headings

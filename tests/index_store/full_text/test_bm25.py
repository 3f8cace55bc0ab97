import random
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import IntegrityError

from index_store.base.database.database import open_database, place_of
from index_store.catalogue.schema import SCHEMA
from index_store.full_text import bm25
from index_store.full_text.analysis import Analyzer
from index_store.full_text.bm25 import BM25Index, ChunkTerms
from index_store.full_text.glossary import Glossary

PASSAGES = {
    "allowance": ("出張旅費規程", ["日当"], "出張の日当は1日2,500円です。宿泊を伴わないときは半額になります。"),
    "taxi": ("出張旅費規程", ["交通費"], "タクシーは終電の後にだけ使えます。領収書が要ります。"),
    "vpn": ("ITの手引き", ["接続"], "VPNに接続できないときは、ｻｰﾊﾞｰの名前を確認してください。"),
    "x-pattern": ("用語集", [], "Xパタンは、属性Aを持つ項目の並びです。"),
    "y-pattern": ("用語集", [], "Yパタンのパタンは、項目の並びで、属性Bを持ちます。"),
    "passwords": (
        "Security handbook",
        ["Passwords"],
        "A password has at least 14 characters. Managers approve exceptions.",
    ),
    "printers": (
        "Security handbook",
        ["Printers"],
        "The printers on each floor need a badge. Broken printers: call IT.",
    ),
}


class SearchedPassages:
    """A BM25 index with passages; each document has one chunk."""

    def __init__(self, connection: Connection, analyzer: Analyzer | None = None) -> None:
        self.connection = connection
        self.analyzer = analyzer or Analyzer()
        self.index = BM25Index("index_1")
        self.index.create(connection)

    def put(self, passages: dict[str, tuple[str, list[str], str]]) -> None:
        self.put_terms(self.analysed(passages))

    def analysed(self, passages: dict[str, tuple[str, list[str], str]]) -> dict[str, ChunkTerms]:
        return {name: ChunkTerms.of(self.analyzer, f"{name}-1", *passage) for name, passage in passages.items()}

    def put_terms(self, passages: dict[str, ChunkTerms]) -> None:
        for name, terms in passages.items():
            self.index.put(self.connection, name, [terms])

    def scored(self, question: str, k: int = 10, documents: Sequence[str] | None = None) -> list[tuple[str, float]]:
        return self.index.search(self.connection, self.analyzer.question(question), k, documents)

    def found(self, question: str, k: int = 10, documents: Sequence[str] | None = None) -> list[str]:
        return [chunk_id.removesuffix("-1") for chunk_id, _ in self.scored(question, k, documents)]


@pytest.fixture
def connection(tmp_path: Path, database: SecretStr | None) -> Iterator[Connection]:
    engine = open_database(place_of("catalogue", tmp_path, database), SCHEMA)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def searched(connection: Connection) -> SearchedPassages:
    searched = SearchedPassages(connection)
    searched.put(PASSAGES)
    return searched


def everything(connection: Connection, table: str = "index_1") -> list:
    """All rows of all tables of the index."""
    tables = [f"{table}_chunks", f"{table}_terms", f"{table}_totals"]
    rows = [connection.exec_driver_sql(f"SELECT * FROM {each}").all() for each in tables]
    if connection.dialect.name == "sqlite":
        rows.append(connection.exec_driver_sql(f"SELECT rowid, * FROM {table}").all())
    return [sorted(each) for each in rows]


def table_names(connection: Connection) -> list[str]:
    return sorted(inspect(connection).get_table_names())


# Which passages are found


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("日当はいくらですか", "allowance"),
        ("出張の日当について教えてください", "allowance"),
        ("サーバの名前", "vpn"),
        ("ｖｐｎ", "vpn"),
        ("終電", "taxi"),
        ("What does a password need?", "passwords"),
        ("badge for a printer", "printers"),
        ("２５００円", "allowance"),
        ("VPNの接続とprinter", "vpn"),
    ],
)
def test_the_passage_that_holds_the_words_is_first(searched, question, best):
    assert searched.found(question)[0] == best


@pytest.mark.parametrize(
    ("question", "answer", "others"),
    [
        (
            "給与明細の履歴はどこで見れますか",
            "給与明細は人事ポータルで見ることができます。",
            ("給与明細の発行日は毎月25日です。", "履歴書は人事課に提出します。"),
        ),
        (
            "日当について教えてほしいのですが、半額になりますか",
            "宿泊を伴わない日当は半額です。",
            ("日当の額を人に教えることはできません。", "半額の切符を使います。", "半額の日は金曜です。"),
        ),
        (
            "もし社員証を忘れたらどうすればいいですか",
            "社員証を忘れた日は、受付で仮の証を受け取ります。",
            (
                "社員証をもし落としたら、総務課に電話します。",
                "忘れ物は警備室にあります。",
                "忘れた暗証番号は変えます。",
            ),
        ),
        (
            "Does anyone know how to book a desk?",
            "A desk is booked in the calendar.",
            ("Do not tell anyone at the next desk.", "A room is booked by phone.", "Trips are booked by phone."),
        ),
        (
            "I forgot my badge",
            "Badges: who has forgotten one gets a visitor's card at the desk.",
            ("A badge opens the doors.", "A badge is worn at all times.", "Doors close at eight."),
        ),
        (
            "I cannot log in to the portal",
            "Portal: login problems are solved by the help desk.",
            (
                "The portal cannot show old payslips.",
                "Logs of the portal are kept for a year.",
                "Doors close at eight.",
            ),
        ),
    ],
)
def test_the_passage_with_the_answer_is_first_however_it_is_asked(connection, question, answer, others):
    searched = SearchedPassages(connection)
    searched.put(
        {name: ("", [], text) for name, text in zip("bcde", others, strict=False)} | {"answer": ("", [], answer)}
    )
    assert searched.found(question)[0] == "answer"


def test_a_look_alike_term_stands_below_the_term_itself(searched):
    assert searched.found("Xパタンとは")[0] == "x-pattern"
    assert searched.found("属性Bとは")[0] == "y-pattern"


def test_an_english_plural_is_found_by_its_singular_and_the_other_way_round(searched):
    assert searched.found("manager") == ["passwords"]
    assert searched.found("badges") == ["printers"]


def test_a_question_with_a_verb_finds_the_text_with_its_noun(connection):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "ticket": ("", [], "切符を買うときは回数券を選び、料金を払うこと。机の配置は元に戻すこと。"),
            "refund": ("", [], "払戻しの手続は経理課が行います。"),
        }
    )
    assert searched.found("払い戻すにはどうすればいい?")[0] == "refund"


def test_a_part_of_a_word_is_found_by_its_pairs(connection):
    searched = SearchedPassages(connection)
    searched.put({"name": ("", [], "ゆうちょ銀行の窓口"), "other": ("", [], "郵便局の窓口")})
    [(chunk_id, score)] = searched.scored("うちょ銀")
    assert (chunk_id, score > 0) == ("name-1", True)


@pytest.mark.both_databases
def test_a_title_and_headings_count_more_than_the_text(connection):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "text": ("規程", ["総則"], "日当は別に定める。"),
            "heading": ("規程", ["日当"], "総則は別に定める。"),
            "title": ("日当", ["規程"], "総則は別に定める。"),
        }
    )
    assert searched.found("日当")[-1] == "text"


def test_of_two_passages_the_one_with_the_rarer_word_is_first(connection):
    searched = SearchedPassages(connection)
    searched.put(
        {f"common-{number}": ("", [], "会議の予定") for number in range(5)} | {"rare": ("", [], "会議の議事録")}
    )
    assert searched.found("予定と議事録")[0] == "rare"


def test_a_score_is_the_share_of_the_question_that_is_held(searched):
    whole, part = (searched.scored(question)[0][1] for question in ("password exceptions", "password unicorn dragon"))
    assert 0 < part < whole <= 1


@pytest.mark.parametrize(
    "question", ["unicorn", "一角獣", "とは", "。、！", "", " ", "😀", "\0", "\ud800", '" OR NEAR(']
)
def test_nothing_matched_means_no_hits(searched, question):
    assert searched.scored(question) == []


@pytest.mark.parametrize(
    "question",
    [
        '"日当" OR NEAR(日当 円, 2)',
        "title:日当 AND NOT 円",
        "日当* ^日当 {text}:日当 -円 + ()",
        '日当"; DROP TABLE index_1; --',
        "日当'",
        "\"'日当\0円",
        "日当 $t ? :a %s",
    ],
)
def test_a_question_is_never_read_as_syntax(searched, question):
    before = everything(searched.connection)
    assert searched.found(question)[0] == "allowance"
    assert everything(searched.connection) == before


def test_words_of_the_query_syntax_can_be_sought(connection):
    searched = SearchedPassages(connection)
    searched.put({"logic": ("", [], "AND, OR, NOT and NEAR are operators"), "other": ("", [], "operators of a lift")})
    assert searched.found("NOT")[0] == "logic"
    assert searched.found("NEAR") == ["logic"]


def test_a_question_of_one_character_finds_the_word(searched):
    searched.put({"rain": ("", [], "雨の日は傘を持つ。")})
    assert searched.found("雨") == ["rain"]
    assert searched.found("X")[0] == "x-pattern"


def test_a_question_of_many_thousand_characters_is_answered(searched):
    rng = random.Random(3)
    noise = "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(5000))
    assert searched.found(noise + "。終電")[0] == "taxi"


def test_a_term_of_the_glossary_is_found_as_a_whole(connection):
    searched = SearchedPassages(connection, Analyzer(Glossary(["C++", 'the "big" button', "Xパタン"])))
    searched.put(
        {
            "c": ("", [], "A C compiler"),
            "cpp": ("", [], "A C++ compiler"),
            "button": ("", [], 'Press the "big" button twice'),
            "big": ("", [], "The button is big"),
        }
    )
    searched.put(PASSAGES)
    assert searched.found("C++") == ["cpp"]
    assert searched.found('the "big" button') == ["button"]
    assert searched.found("xパタン")[0] == "x-pattern"


def test_a_term_of_the_glossary_may_begin_with_any_sign(connection):
    searched = SearchedPassages(connection, Analyzer(Glossary(["=SUM", "^x", "==", "#tag", "日当="])))
    searched.put({"sheet": ("", [], "The cell holds =SUM and ^x and #tag"), "other": ("", [], "== 日当="), **PASSAGES})
    assert searched.found("=SUM") == ["sheet"]
    assert searched.found("^x #tag")[0] == "sheet"
    assert searched.found("日当=")[0] == "other"
    assert searched.found("==") == []


# Order and number of hits


@pytest.mark.parametrize("code", ["S-1", "s1", "Ｓ－１"])
def test_a_code_finds_the_passage_that_has_it_and_not_one_that_has_its_parts(connection, code):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "parts": ("様式", ["様式1"], "Form 1 in size S is 1 of 1 様式."),
            "code": ("総務", [], "新しい取引先を登録するときは、購買の課長の承認を受けて、様式S-1を提出してください。"),
        }
    )
    assert searched.found(f"様式{code}とは何ですか？")[0] == "code"


@pytest.mark.both_databases
@pytest.mark.parametrize("question", ["WiFi password", "Wi-Fi password", "ＷｉＦｉのpassword"])
def test_a_word_with_a_hyphen_is_found_however_it_is_written_and_counts_once(connection, question):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "password": ("", [], "A password has at least 14 characters."),
            "both": ("", [], "The WiFi password is on the board."),
        }
        | {f"point {n}": ("", [], f"Wi-Fi access point {n} is on floor {n}.") for n in range(40)}
    )
    found = searched.found(question, k=50)
    assert (found[0], len(found)) == ("both", 42)


@pytest.mark.both_databases
def test_the_parts_of_a_word_with_hyphens_count_where_it_is_written_without(connection):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "apart": ("", [], "Staff who work part time get a bonus."),
            "time": ("", [], "Time is recorded in the portal."),
            "whole": ("", [], "Part-time staff"),
        }
    )
    assert searched.found("part-time bonus") == ["apart", "whole", "time"]
    assert all(0 < score <= 1 for _, score in searched.scored("part-time bonus"))


def test_the_parts_of_a_code_weigh_less_than_the_code(connection):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "parts": ("", [], "Form E has 417 fields."),
            "hyphen": ("", [], "Error E-417 means a jam."),
            "plain": ("", [], "Error E417 means a jam."),
        }
    )
    assert searched.found("E-417")[2] == "parts"


def test_a_word_with_hyphens_that_every_text_writes_apart_takes_no_share_of_the_score(connection):
    searched = SearchedPassages(connection)
    searched.put({f"staff {n}": ("", [], f"People who work part time: {n}") for n in range(20)})
    searched.put({"bonus": ("", [], "The bonus")})
    assert searched.found("part-time bonus")[0] == "bonus"


@pytest.mark.parametrize("question", ["2024.4.1の会議", "2024.04.01の会議", "R6.4.1の会議"])
def test_a_day_with_points_finds_the_day_however_it_is_written(connection, question):
    searched = SearchedPassages(connection)
    days = {"later": "2024年4月2日", "earlier": "2023年4月1日", "asked": "2024年4月1日"}
    searched.put({name: ("議事録", [], f"{day}の会議の記録") for name, day in days.items()})
    assert searched.found(question)[0] == "asked"


@pytest.mark.parametrize("question", ["2024年4月の会議", "2024.4の会議", "2024/04の会議"])
@pytest.mark.parametrize("written", ["{}年{}月", "{}.{}", "{}/0{}"])
def test_a_month_finds_the_month_however_it_is_written(connection, question, written):
    searched = SearchedPassages(connection)
    months = {"later": (2024, 5), "earlier": (2023, 4), "asked": (2024, 4)}
    searched.put({name: ("議事録", [], f"{written.format(*month)}の会議の記録") for name, month in months.items()})
    assert searched.found(question)[0] == "asked"


@pytest.mark.parametrize("question", ["R6.4の会議", "令和6.4の会議", "R06/04の会議"])
@pytest.mark.parametrize("written", ["令和{}年{}月", "R{}.{}", "令{}.0{}"])
def test_a_month_of_an_era_finds_the_month_however_it_is_written(connection, question, written):
    searched = SearchedPassages(connection)
    months = {"later": (6, 5), "earlier": (5, 4), "asked": (6, 4)}
    searched.put({name: ("議事録", [], f"{written.format(*month)}の会議の記録") for name, month in months.items()})
    assert searched.found(question)[0] == "asked"


@pytest.mark.parametrize("question", ["0312345678", "03-1234-5678", "（０３）１２３４－５６７８はどこ"])
@pytest.mark.parametrize("written", ["{}{}{}", "{}-{}-{}", "({}){}-{}"])
def test_a_telephone_number_is_found_however_it_is_written(connection, question, written):
    searched = SearchedPassages(connection)
    numbers = {"osaka": ("06", "1234", "5678"), "fax": ("03", "1234", "5679"), "asked": ("03", "1234", "5678")}
    searched.put({name: ("連絡先", [], f"電話 {written.format(*number)}") for name, number in numbers.items()})
    assert searched.found(question)[0] == "asked"


@pytest.mark.parametrize("question", ["30%の負担", "三割の負担", "3割の負担", "百分の三十の負担"])
@pytest.mark.parametrize("written", ["{}0%", "{}割", "{}0 percent", "100分の{}0"])
def test_a_percentage_is_found_however_it_is_written(connection, question, written):
    searched = SearchedPassages(connection)
    searched.put({f"{tenth}": ("", [], f"負担は{written.format(tenth)}です。") for tenth in (1, 2, 3)})
    searched.put({"people": ("", [], "負担は30人です。")})
    assert searched.found(question)[0] == "3"


@pytest.mark.parametrize(("asked", "first"), [("斉藤", "one"), ("斎藤", "other"), ("齋藤", "other")])
def test_a_name_with_another_kanji_is_found_after_the_name_itself(connection, asked, first):
    searched = SearchedPassages(connection)
    searched.put({"else": ("", [], "佐藤 内線125"), "one": ("", [], "斉藤 内線123"), "other": ("", [], "斎藤 内線124")})
    assert searched.found(f"{asked}さん") == [first, *({"one", "other"} - {first})]


def test_a_greeting_does_not_find_what_has_its_words(connection):
    searched = SearchedPassages(connection)
    searched.put(
        {
            "care": ("就業規則", ["介護休暇"], "家族の世話をするとき、介護休暇を取れます。"),
            "leave": ("就業規則", ["休暇"], "有給で休める日は、年に20日です。"),
        }
    )
    greeting = "いつもお世話になっております。"
    assert searched.scored(f"{greeting}有給の休暇は何日ですか？よろしくお願いいたします。") == searched.scored(
        "有給の休暇は何日ですか"
    )


def test_no_more_than_k_are_found(searched):
    assert len(searched.found("項目の並び", k=1)) == 1
    assert len(searched.found("項目の並び", k=2)) == 2


def test_more_hits_than_candidates_can_be_had(searched):
    searched.put({f"copy-{number}": ("", [], "定例会議") for number in range(bm25.CANDIDATES + 20)})
    assert len(searched.found("定例会議", k=1000)) == bm25.CANDIDATES + 20


def test_equal_passages_come_in_the_order_of_their_adding(connection):
    searched = SearchedPassages(connection)
    names = [f"copy-{number}" for number in (7, 3, 9, 1)]
    searched.put({name: ("", [], "定例会議の議事録") for name in names})
    assert searched.found("議事録") == names


def test_the_same_question_gives_the_same_hits_and_scores(searched):
    first = searched.scored("属性と項目の並びとpassword")
    searched.connection.commit()
    assert [searched.scored("属性と項目の並びとpassword") for _ in range(5)] == [first] * 5


def test_the_search_may_be_kept_to_some_documents(searched):
    assert searched.found("項目の並び", documents=["y-pattern"]) == ["y-pattern"]
    assert searched.found("項目の並び", documents=["taxi", "vpn"]) == []
    assert searched.found("項目の並び", documents=["unknown"]) == []
    assert searched.found("項目の並び", documents=[]) == []


def test_a_common_word_hides_nothing_within_the_documents_asked_for(connection, monkeypatch):
    monkeypatch.setattr(bm25, "POSTINGS", 10)
    searched = SearchedPassages(connection)
    searched.put(
        {"first": ("", [], "会議の予定")} | {f"copy-{number}": ("", [], "会議と会議室") for number in range(40)}
    )
    searched.put({"rare": ("", [], "議事録"), "last": ("", [], "会議の予定")})
    assert searched.found("会議の議事録", documents=["last", "first"]) == ["first", "last"]


def test_beyond_the_bound_of_postings_the_rare_words_decide(connection, monkeypatch):
    searched = SearchedPassages(connection)
    searched.put({f"common-{number}": ("", [], f"会議の予定、第{number}回") for number in range(60)})
    searched.put({"rare": ("", [], "会議の予定と議事録")})
    unbounded = searched.scored("会議の予定の議事録", k=1)
    monkeypatch.setattr(bm25, "POSTINGS", 5)
    assert searched.scored("会議の予定の議事録", k=1) == unbounded
    assert unbounded[0][0] == "rare-1"


def test_beyond_the_bound_common_words_still_fill_the_list(connection, monkeypatch):
    monkeypatch.setattr(bm25, "POSTINGS", 20)
    searched = SearchedPassages(connection)
    searched.put({f"common-{number}": ("", [], "会議") for number in range(60)} | {"rare": ("", [], "会議の議事録")})
    found = searched.found("会議の議事録", k=15)
    assert (found[0], len(found)) == ("rare", 15)
    assert len(searched.found("会議", k=15)) == 15


def test_of_a_word_that_is_everywhere_the_chunk_that_is_about_it_is_first(connection, monkeypatch):
    monkeypatch.setattr(bm25, "POSTINGS", 60)
    searched = SearchedPassages(connection)
    searched.put({f"copy-{number}": ("", [], "会議は午後に行う予定") for number in range(100)})
    searched.put({"about": ("手引き", ["会議"], "会議は年に一度、会議室で行う。")})
    assert searched.found("会議")[0] == "about"


# Adding and deleting


def test_what_is_deleted_is_not_found_and_leaves_nothing(searched):
    before = everything(searched.connection)
    searched.put({"gone": ("消えた規程", ["総則"], "消える文書です。日当もあります。")})
    assert searched.found("消える文書") == ["gone"]
    searched.index.delete_document(searched.connection, "gone")
    assert searched.found("消える文書") == []
    assert everything(searched.connection) == before


def test_all_chunk_ids_can_be_listed(searched):
    assert sorted(searched.index.chunk_ids(searched.connection)) == sorted(f"{name}-1" for name in PASSAGES)


def test_putting_and_deleting_in_any_order_ends_in_the_same_scores(connection):
    """The index keeps its own counts of terms: they must stay exact."""
    searched, rng = SearchedPassages(connection), random.Random(5)
    names = [rng.choice(list(PASSAGES)) for _ in range(60)]
    present: set[str] = set()
    for name in names:
        if name in present:
            searched.index.delete_document(connection, name)
            present.remove(name)
        else:
            searched.put({name: PASSAGES[name]})
            present.add(name)
    searched.put({name: PASSAGES[name] for name in PASSAGES if name not in present})
    fresh = SearchedPassages.__new__(SearchedPassages)
    fresh.connection, fresh.analyzer, fresh.index = connection, searched.analyzer, BM25Index("index_2")
    fresh.index.create(connection)
    fresh.put(PASSAGES)
    for question in ("日当", "項目の並び", "password"):
        assert dict(searched.scored(question)) == dict(fresh.scored(question))
    counts = [everything(connection, table)[1:3] for table in ("index_1", "index_2")]
    assert counts[0] == counts[1]


@pytest.mark.both_databases
def test_what_is_put_among_very_many_is_found_as_if_it_had_come_alone(connection):
    searched, alone = SearchedPassages(connection), BM25Index("index_2")
    alone.create(connection)
    with alone.filling(connection):
        for name, (title, headings, text) in PASSAGES.items():
            terms = ChunkTerms.of(searched.analyzer, f"{name}-1", title, headings, text)
            alone.put(connection, name, [terms])
    searched.put(PASSAGES)
    for question in ("日当はいくらですか", "badge for a printer"):
        found = alone.search(connection, searched.analyzer.question(question), 10)
        assert found == searched.scored(question) != []


def test_a_chunk_is_put_once(searched):
    with pytest.raises(IntegrityError):
        searched.put({"taxi": PASSAGES["taxi"]})


def test_nothing_is_put_of_a_document_without_chunks(searched):
    before = everything(searched.connection)
    searched.index.put(searched.connection, "empty", [])
    assert everything(searched.connection) == before


def test_what_is_rolled_back_was_never_there(searched):
    searched.connection.commit()
    before = everything(searched.connection)
    searched.put({"gone": ("", [], "消える文書")})
    searched.index.delete_document(searched.connection, "taxi")
    searched.connection.rollback()
    assert everything(searched.connection) == before
    assert searched.found("終電") == ["taxi"]


def test_tables_are_made_and_dropped_with_their_transaction(connection):
    made = BM25Index("index_1")
    made.create(connection)
    connection.rollback()
    assert not made.exists(connection)
    made.create(connection)
    connection.commit()
    before = table_names(connection)
    made.drop(connection)
    connection.rollback()
    assert table_names(connection) == before


@pytest.mark.parametrize("rounds", [50, pytest.param(150, marks=pytest.mark.soak)])
def test_a_search_sees_all_or_nothing_of_what_another_thread_writes(searched, rounds):
    """A search reads several times, but one state: otherwise, later reads would miss chunks that were just removed."""
    searched.connection.commit()
    chunks = [ChunkTerms.of(searched.analyzer, f"more-{number}", "", [], f"終電の後 {number}") for number in range(30)]
    is_done = threading.Event()

    def write() -> None:
        with searched.connection.engine.connect() as writing:
            for _ in range(rounds):
                searched.index.put(writing, "more", chunks)
                writing.commit()
                searched.index.delete_document(writing, "more")
                writing.commit()
        is_done.set()

    writer = threading.Thread(target=write)
    writer.start()
    counts = set()
    while not is_done.is_set():
        counts.add(len(searched.found("終電", k=100)))
        searched.connection.rollback()
    writer.join()
    assert counts <= {1, 31}


def test_one_index_knows_nothing_of_another(searched):
    alone = searched.scored("会議の日当")
    other = BM25Index("index_2")
    other.create(searched.connection)
    chunks = [ChunkTerms.of(searched.analyzer, f"other-{n}", "", [], "日当と会議の規程") for n in range(20)]
    other.put(searched.connection, "other", chunks)
    assert searched.scored("会議の日当") == alone


def test_a_dropped_index_leaves_no_table(searched):
    assert searched.index.exists(searched.connection)
    searched.index.drop(searched.connection)
    searched.index.drop(searched.connection)
    assert not searched.index.exists(searched.connection)
    assert [name for name in table_names(searched.connection) if "index_1" in name] == []


def test_an_empty_index_has_no_hits(connection):
    assert SearchedPassages(connection).scored("日当") == []


@pytest.mark.parametrize("name", ["", "a-b", "a b", "1a", "a;DROP", "a'"])
def test_a_table_has_a_plain_name(name):
    with pytest.raises(ValueError, match="name"):
        BM25Index(name)


@pytest.mark.sqlite_alone
def test_fts5_finds_its_own_tables_sound(searched, tmp_path):
    searched.index.delete_document(searched.connection, "taxi")
    searched.connection.commit()
    with sqlite3.connect(tmp_path / "catalogue.sqlite3") as database:
        database.execute("INSERT INTO index_1 (index_1) VALUES ('integrity-check')")
    database.close()


@pytest.mark.parametrize(("documents", "rounds"), [(120, 15), pytest.param(400, 60, marks=pytest.mark.soak)])
def test_postgres_ranks_as_sqlite_does_and_with_the_same_scores(tmp_path, postgres, documents, rounds):
    """With generated chunks: rare, common and hyphenated words, removed documents, searches in some documents."""
    chance = random.Random(7)
    words = [f"w{number}-w{number // 9}" if number % 7 == 3 else f"w{number}" for number in range(300)] + list(
        "出張日当宿泊交通経費申請承認部長"
    )
    weights = [1 / (place + 1) for place in range(len(words))]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, weights, k=length))

    passages = {
        f"d{number}": (text(2), [text(2)], text(chance.randrange(5, 60)) + "".join(chance.choices(words[300:], k=9)))
        for number in range(documents)
    }
    url = postgres.new_database()
    engines = [open_database(place_of("catalogue", tmp_path, each), SCHEMA) for each in (None, SecretStr(url))]
    with engines[0].connect() as sqlite, engines[1].connect() as big:
        both = [SearchedPassages(sqlite), SearchedPassages(big)]
        analysed = both[0].analysed(passages)
        for each in both:
            each.put_terms(analysed)
            for number in range(0, documents, 7):
                each.index.delete_document(each.connection, f"d{number}")
        within = [f"d{number}" for number in range(0, documents, 3)]
        for _ in range(rounds):
            question = text(chance.randrange(1, 8)) + " " + "".join(chance.choices(words[300:], k=3))
            for searched in (None, within):
                one, other = (each.scored(question, 10, searched) for each in both)
                assert one == other
        counts = [each.index.count(each.connection, {"w1": [], "w250": []}, {}) for each in both]
        assert counts[0] == counts[1]
    for engine in engines:
        engine.dispose()
    postgres.drop(url)


def test_postgres_looks_at_no_more_chunks_of_a_common_word_than_the_bound(tmp_path, postgres, monkeypatch):
    monkeypatch.setattr(bm25, "POSTINGS", 100)
    url = postgres.new_database()
    engine = open_database(place_of("catalogue", tmp_path, SecretStr(url)), SCHEMA)
    with engine.connect() as connection:
        searched = SearchedPassages(connection)
        terms = searched.analysed({"d": ("", [], "会議の予定")})["d"]
        searched.index.put(connection, "d", [replace(terms, chunk_id=f"d-{number}") for number in range(1000)])
        connection.commit()
        assert len(searched.found("会議")) == 10
        looked_at = connection.exec_driver_sql(
            "SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'index_1_chunks'"
        ).scalar_one()
    engine.dispose()
    postgres.drop(url)
    a_page = 200
    assert looked_at <= 100 + bm25.CANDIDATES + a_page

"""Hits are trimmed to the model's context window, and their offsets stay correct."""

import pytest

from index_store.base.errors import QuestionTooLong
from index_store.parsing.chunking.width import text_width
from index_store.search.hits import Hit
from rag.models.context_window import TOKENS_A_CHARACTER, ContextWindow, fit_to_context, length
from rag.text.quoting import passages_block
from rag.trace.passages import Passage

PARAGRAPHS = [f"第{n}段落は{chr(0x4E00 + n) * 30}について述べる。続けて{n}の細則を記す。\n\n" for n in range(40)]
SECTION = "".join(PARAGRAPHS).strip()
BEST = PARAGRAPHS[20].strip()


def hit(text: str = SECTION, best: str = BEST, rank: int = 1) -> Hit:
    at = SECTION.index(text)
    found = SECTION.index(best)
    return Hit(
        chunk_id=f"c{rank}", section_id=f"s{rank}", document_id="d", source="a.md", title="", headings=(), page=None,
        rank=rank, score=1.0, text=text, start=at, end=at + len(text), best_start=found, best_end=found + len(best),
    )  # fmt: skip


def test_what_fits_is_left_as_it_is():
    assert fit_to_context([hit()], ContextWindow(passage=5000, passages=5000)) == [hit()]


@pytest.mark.parametrize("size", [80, 400, 1500, *(pytest.param(size, marks=pytest.mark.soak) for size in (150, 999))])
@pytest.mark.parametrize("at", [0, 20, 39, *(pytest.param(at, marks=pytest.mark.soak) for at in (1, 38))])
def test_a_long_section_is_trimmed_around_its_best_chunk_at_the_ends_of_sentences(size, at):
    best = PARAGRAPHS[at].strip()
    [trimmed] = fit_to_context([hit(best=best)], ContextWindow(passage=size, passages=5000))
    assert trimmed.text == SECTION[trimmed.start : trimmed.end]
    assert best in trimmed.text
    assert size - 100 < length(trimmed.text) <= size or trimmed.text == best
    assert trimmed.text.endswith("。")
    assert trimmed.text.startswith(("第", "続けて"))


def test_there_is_as_much_before_the_best_chunk_as_after_it():
    [trimmed] = fit_to_context([hit()], ContextWindow(passage=600, passages=5000))
    before, after = trimmed.text.split(BEST)
    assert abs(length(before) - length(after)) < 150


@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=() if size % 30 == 0 else pytest.mark.soak) for size in range(120, 300, 10)]
)
def test_the_cells_before_the_rest_of_a_row_are_left_out_where_they_do_not_fit(size):
    header = "| 番号 | 質問 | 回答 |\n| --- | --- | --- |\n"
    cells = "| 1 | パスワードを忘れたときはどうすればよいですか | "
    answer = "".join(f"手順{at}では画面の右上にある設定のボタンを押します。" for at in range(40))
    best = "| 2 | 有給は何日ですか | 10日です。 |"
    text = f"{header}{cells}{answer} |\n{best}\n"
    at = text.index(best)
    place = {"start": 0, "end": len(text), "best_start": at, "best_end": at + len(best)}
    [trimmed] = fit_to_context([hit().model_copy(update={"text": text, **place})], ContextWindow(size, 5000))
    assert length(trimmed.header + trimmed.text) <= size
    assert trimmed.header in (header, header + cells)


def test_all_passages_together_fit_and_the_better_ones_keep_more():
    hits = [hit(rank=rank) for rank in range(1, 5)]
    kept = fit_to_context(hits, ContextWindow(passage=900, passages=1500))
    lengths = [length(each.text) for each in kept]
    assert len(kept) == 4
    assert sum(lengths) <= 1500
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 700
    assert all(BEST in each.text for each in kept)


def test_the_last_hits_are_left_out_where_not_even_their_chunks_have_room():
    hits = [hit(text=BEST, rank=rank) for rank in range(1, 11)]
    kept = fit_to_context(hits, ContextWindow(passage=900, passages=4.5 * length(BEST)))
    assert [each.rank for each in kept] == [1, 2, 3, 4]
    assert kept == hits[:4]


def test_titles_and_headings_that_are_long_take_space_from_the_passages():
    """However long they are: a prompt tells no more than the beginning and the end of them."""
    window = ContextWindow(passage=1000, passages=2000)
    titled = [hit(rank=n).model_copy(update={"title": "規程" * 20_000, "headings": ("旅費",)}) for n in range(1, 20)]
    kept = fit_to_context(titled, window)
    assert 1 < len(kept) < len(fit_to_context([hit(rank=n) for n in range(1, 20)], window))
    told = passages_block([Passage(number=each.rank, **each.model_dump(exclude={"copies"})) for each in kept])
    assert told.count("旅費") == len(kept)
    assert length(told) < 2000 + 100 * len(kept)


def test_a_chunk_that_is_too_long_by_itself_is_cut_from_its_start():
    best = "".join(PARAGRAPHS[10:20]).strip()
    [trimmed] = fit_to_context([hit(best=best)], ContextWindow(passage=100, passages=5000))
    assert best.startswith(trimmed.text)
    assert 0 < length(trimmed.text) <= 100
    assert trimmed.text == SECTION[trimmed.start : trimmed.end]


def test_a_passage_within_a_section_keeps_its_place_in_it():
    text = "".join(PARAGRAPHS[10:30]).strip()
    [trimmed] = fit_to_context([hit(text=text)], ContextWindow(passage=300, passages=5000))
    assert trimmed.text == SECTION[trimmed.start : trimmed.end]
    assert BEST in trimmed.text


def test_a_table_of_figures_takes_more_room_than_words_of_its_width():
    assert length("| 1234 | 5678 |") > 2 * length("The green car ok")
    assert length("給湯室の冷蔵庫") == 7


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("ﾔﾏﾀﾞ ﾀﾛｳ ｶﾌﾞｼｷｶﾞｲｼｬ " * 20, 439),
        ("□①②●→★※" * 40, 360),
        ("RQXZTP MVKLJ " * 40, 321),
        ("Κάθε εργαζόμενος δικαιούται ετήσια άδεια με αποδοχές δέκα ημερών " * 5, 285),
    ],
    ids=["half-width katakana", "signs", "codes in capitals", "Greek"],
)
def test_narrow_text_of_many_tokens_takes_the_room_of_its_tokens(text, tokens):
    """`tokens`: as the embedded model's tokenizer counts them."""
    assert length(text) * TOKENS_A_CHARACTER >= 0.95 * tokens


@pytest.mark.parametrize("text", ["“It’s 日当 – or not…” • No", "カタカナとㇰ", "Der Überbau Привет"])
def test_letters_and_the_signs_of_prose_take_no_more_room_than_their_width(text):
    assert length(text) == text_width(text)


def test_no_hits_fit_any_window():
    assert fit_to_context([], ContextWindow.of(4096, 400)) == []


def test_a_larger_model_has_a_larger_window():
    small, large = ContextWindow.of(4096, 400), ContextWindow.of(16_384, 1000)
    assert 0 < small.passages < large.passages
    assert small.passage < large.passage


HEADER = "| 等級 | 日当 |\n| --- | --- |\n"
ROWS = "".join(f"| {n} | {n}00円 |\n" for n in range(100, 160))


@pytest.mark.parametrize("size", [120, 300, 700])
def test_what_is_left_of_a_table_stands_below_its_header(size):
    text = f"別表のとおりとする。\n\n{HEADER}{ROWS}"
    found = text.index("| 140 |")
    whole = hit().model_copy(
        update={"text": text, "start": 0, "end": len(text), "best_start": found, "best_end": found + 20}
    )
    [trimmed] = fit_to_context([whole], ContextWindow(passage=size, passages=5000))
    assert trimmed.text == text[trimmed.start : trimmed.end]
    assert (trimmed.header, "| 140 |" in trimmed.text) == (HEADER, True)
    assert length(trimmed.header + trimmed.text) <= size


def test_a_chunk_that_has_a_header_keeps_it():
    chunk = (
        hit()
        .model_copy(
            update={"text": ROWS, "start": 500, "end": 500 + len(ROWS), "best_start": 500, "best_end": 500 + len(ROWS)}
        )
        .model_copy(update={"header": HEADER})
    )
    [kept] = fit_to_context([chunk], ContextWindow(passage=5000, passages=5000))
    [trimmed] = fit_to_context([chunk], ContextWindow(passage=300, passages=5000))
    assert kept == chunk
    assert (trimmed.header, ROWS.startswith(trimmed.text)) == (HEADER, True)
    assert length(trimmed.header + trimmed.text) <= 300


def test_a_usual_question_leaves_the_passages_their_space_and_a_long_one_takes_some():
    window = ContextWindow.of(4096, 400)
    assert window.beside("日当は?" * 40) == window
    beside_long = window.beside("あ" * 2000)
    assert beside_long.passages == window.passages - 1700
    assert beside_long.passage <= beside_long.passages


def test_a_question_that_leaves_no_space_is_refused_with_the_length_that_would_do():
    window = ContextWindow.of(4096, 400)
    with pytest.raises(QuestionTooLong) as refused:
        window.beside("あ" * 4000)
    most = refused.value.details["most"]
    assert 2500 < most < 3500
    assert window.beside("あ" * most).passages >= 400
    assert ContextWindow.of(16_384, 1000).beside("あ" * 4000).passages > 4000

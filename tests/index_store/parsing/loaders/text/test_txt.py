import pytest

from index_store.base import errors
from index_store.parsing.loaders.text.txt import load

AOZORA = """走れ
作者

-------------------------------------------------------
【テキスト中に現れる記号について】

《》：ルビ
（例）邪智《じゃち》
-------------------------------------------------------

［＃３字下げ］一［＃「一」は中見出し］
　かの邪智《じゃち》暴虐《ぼうぎゃく》の王を｜見物のする《けんぶつ》※［＃「口＋世」、第3水準1-14-88、6-3］。
"""


def test_readings_and_notes_of_aozora_texts_do_not_double_the_text(raw) -> None:
    loaded = load(raw(AOZORA.encode("cp932"), "a.txt"))
    (page,) = loaded.pages
    assert loaded.title == "走れ"
    assert page.markdown == "走れ\n作者\n\n\n一\n　かの邪智暴虐の王を見物のする" + page.markdown[-3] + "。\n"
    assert page.markdown[-3] == bytes((0xA0 + 14, 0xA0 + 88)).decode("euc_jis_2004")
    assert [(heading.text, heading.level) for heading in page.headings or ()] == [("一", 2)]


def test_other_texts_keep_their_brackets_and_bars(raw) -> None:
    text = "書名は《はしれ》と｜縦線《たて》。\n# a line\n"
    (page,) = load(raw(text.encode(), "a.txt")).pages
    assert (page.markdown, page.headings) == (text, ())


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_brackets_that_never_close_take_no_time(raw) -> None:
    load(raw(("［＃" * 200_000 + "漢《" * 200_000).encode(), "a.txt"))


def test_the_charset_that_the_server_claims_is_believed_where_it_holds(raw) -> None:
    assert load(raw("привет, мир".encode("koi8_r"), "a.txt", "koi8-r")).pages[0].markdown == "привет, мир"


def test_an_empty_file_says_so(raw) -> None:
    with pytest.raises(errors.EmptyDocument):
        load(raw(b" \n\n ", "a.txt"))

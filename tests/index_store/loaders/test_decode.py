import pytest

from index_store import errors
from index_store.loaders.decode import decode

PROSE = "メロスは激怒した。必ず、かの邪智暴虐の王を除かなければならぬと決意した。"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp932", "euc_jp", "iso2022_jp"]
)
def test_japanese_is_read_in_every_encoding_that_it_comes_in(encoding: str) -> None:
    text = f"Title: {PROSE}\n" * 3
    if encoding == "utf-16-le":
        text = "A line of ASCII that shows where the zeros stand.\n" * 9 + text
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp"])
@pytest.mark.parametrize("text", ["東京都港区\n大阪府大阪市", "経費の締め日", "会社名 営業部 電話番号"])
def test_a_few_words_are_enough_to_tell_the_japanese_encodings_apart(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == text


def test_half_width_katakana_are_read() -> None:
    text = "ｶﾌﾞｼｷｶﾞｲｼｬ 東京,ﾄｳｷｮｳ\n"
    assert decode(text.encode("cp932"), "a.txt") == text


def test_a_wrong_declaration_is_not_believed() -> None:
    assert decode(PROSE.encode("euc_jp"), "a.html", declared="Shift_JIS") == PROSE
    assert decode(PROSE.encode("utf-8"), "a.html", declared="iso-8859-1") == PROSE


def test_a_declaration_is_believed_where_it_holds() -> None:
    assert decode("déjà vu à côté".encode("cp1252"), "a.html", declared="iso-8859-1") == "déjà vu à côté"
    assert decode("привет, мир".encode("koi8_r"), "a.html", declared="koi8-r") == "привет, мир"


@pytest.mark.parametrize(
    "content",
    [
        "这是一个没有声明编码的中文文本文件，里面有很多常见的汉字。我们不应该把它当作日文。".encode("gb18030"),
        "Ärger über Öl".encode("cp1252"),
        bytes(range(128, 256)),
    ],
)
def test_what_cannot_be_told_is_refused_rather_than_garbled(content: bytes) -> None:
    with pytest.raises(errors.UnknownEncoding):
        decode(content, "a.txt")


def test_a_binary_file_is_named() -> None:
    with pytest.raises(errors.WrongContent, match="SQLite"):
        decode(b"SQLite format 3\0" + bytes(range(256)) * 4, "a.txt")

import pytest

from index_store.base import errors
from index_store.parsing.loaders.text.decode import decode

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
@pytest.mark.parametrize(
    "text",
    ["東京都港区\n大阪府大阪市", "経費の締め日", "会社名 営業部 電話番号", "旅費規程（2024）", "様式１（申請書）"],
)
def test_a_few_words_are_enough_to_tell_the_japanese_encodings_apart(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (PROSE, "euc_jp", None),
        (PROSE, "euc_jp", "koi8-r"),
        (PROSE, "cp932", None),
        ("Командировочные расходы начальника отдела", "koi8_r", "koi8-r"),
        ("Ärger über Öl", "cp1252", None),
        ("è", "cp1252", None),
    ],
)
def test_a_long_log_is_read_whose_first_character_outside_ascii_comes_late(
    text: str, encoding: str, declared: str | None
) -> None:
    log = "2026-11-26 12:00:00 INFO request served in 12 ms\n" * 6_000 + text
    assert decode(log.encode(encoding), "app.log", declared) == log


@pytest.mark.parametrize(
    "text",
    [
        "項目,A社,B社,C社\r\n価格,100,200,300\r\n納期,5,7,9\r\n",
        "学生,A組,B組,C組,D組\r\n平均,61,62,63,64\r\n",
        "品名,A案,B案,C案\r\n椅子,100,200,300\r\n",
        "ID,size\n1,M6用\n2,USB用\n3,AC用\n4,A棚\n",
        "A市 B市",
        "%s対%s",
    ],
)
@pytest.mark.parametrize("encoding", ["cp932", "euc_jp"])
def test_a_single_kanji_beside_a_latin_letter_is_no_accent(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.csv") == text


@pytest.mark.parametrize(
    "text",
    [
        "┌──┬──┐\n│部署│内線│\n├──┼──┤\n│営業│101 │\n└──┴──┘\n",
        "━━━━━━━━━━━━━━━━\n会議室予約表\n━━━━━━━━━━━━━━━━\n大会議室 10:00-11:00\n",
        "営業部\n├第一課\n│├東京\n│└大阪\n└第二課\n",
    ],
    ids=["a table", "a title between rules", "a tree"],
)
def test_words_between_lines_that_are_drawn_with_characters_are_read(text: str) -> None:
    assert decode(text.encode("cp932"), "a.txt") == text


@pytest.mark.parametrize("text", ["ｶﾌﾞｼｷｶﾞｲｼｬ 東京,ﾄｳｷｮｳ\n", "ﾎﾞﾙﾄ M6,100\nﾅｯﾄ M8,200\n"])
def test_half_width_katakana_are_read(text: str) -> None:
    assert decode(text.encode("cp932"), "a.txt") == text


def test_a_wrong_declaration_is_not_believed() -> None:
    assert decode(PROSE.encode("euc_jp"), "a.html", "Shift_JIS") == PROSE
    for charset in ("koi8-r", "windows-1251", "iso-8859-5", "iso-8859-7"):
        assert decode(PROSE.encode("euc_jp"), "a.html", charset) == PROSE
        assert decode(PROSE.encode("cp932"), "a.html", charset) == PROSE
    assert decode(PROSE.encode("utf-8"), "a.html", "iso-8859-1") == PROSE


def test_a_declaration_is_believed_where_it_holds() -> None:
    assert decode("déjà vu à côté".encode("cp1252"), "a.html", "iso-8859-1") == "déjà vu à côté"
    assert decode("привет, мир".encode("koi8_r"), "a.html", "koi8-r") == "привет, мир"
    html = "<h1>a</h1><p>Командировочные расходы начальника отдела</p></body></html>"
    assert decode(html.encode("koi8_r"), "a.html", None, "koi8-r") == html


@pytest.mark.parametrize(
    "content",
    [
        "这是一个没有声明编码的中文文本文件，里面有很多常见的汉字。我们不应该把它当作日文。".encode("gb18030"),
        "Zażółć gęślą jaźń".encode("cp1250"),
        "Съешь же ещё этих мягких булок".encode("cp1251"),
        "한국어로 쓰인 문서입니다. 우리는 이것을 일본어로 읽지 않아야 합니다.".encode("euc_kr"),
        bytes(range(128, 256)),
    ],
)
def test_what_cannot_be_told_is_refused_rather_than_garbled(content: bytes) -> None:
    with pytest.raises(errors.UnknownEncoding):
        decode(content, "a.txt")


def test_a_binary_file_is_named() -> None:
    with pytest.raises(errors.WrongContent, match="SQLite"):
        decode(b"SQLite format 3\0" + bytes(range(256)) * 4, "a.txt")


@pytest.mark.parametrize("text", ["髙橋①㈱ を ISO-2022-JP で送る。", "ﾊﾝｶｸ の文字。"])
def test_mail_with_the_characters_of_windows_is_read(text: str) -> None:
    shifted = text.encode("cp932")
    jis = bytearray()
    at = 0
    while at < len(shifted):
        byte = shifted[at]
        if byte < 0x80:
            jis += b"\x1b(B" + bytes([byte])
            at += 1
        elif 0xA1 <= byte <= 0xDF:
            jis += b"\x1b(I" + bytes([byte & 0x7F])
            at += 1
        else:
            # From Shift_JIS to JIS: each first byte stands for two rows, in Microsoft's additional rows, too.
            row, cell = byte, shifted[at + 1]
            row = (row - (0x81 if row < 0xA0 else 0xC1)) * 2 + 0x21
            if cell >= 0x9F:
                row, cell = row + 1, cell - 0x7E
            else:
                cell -= 0x1F + (cell > 0x7E)
            jis += b"\x1b$B" + bytes([row, cell])
            at += 2
    assert decode(bytes(jis), "mail.eml", "iso-2022-jp") == text


@pytest.mark.parametrize("text", ["林", "Re: 件", "The call moves from 3pm → 4pm."])
@pytest.mark.parametrize("encoding", ["iso2022_jp", "utf-8-sig", "utf-16"])
def test_a_single_japanese_character_is_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "mail.eml") == text


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        ("关于合同", "gb18030", "GB2312"),
        ("王芳", "gb18030", "gbk"),
        ("報價單", "big5", "big5"),
        ("合約", "big5", "Big5-HKSCS"),
        ("견적서 송부", "cp949", "ks_c_5601-1987"),
        ("계약서", "cp949", "euc-kr"),
    ],
)
def test_a_few_words_that_declare_to_be_chinese_or_korean_are_no_kanji(text: str, encoding: str, declared: str) -> None:
    assert decode(text.encode(encoding), "mail.eml", declared) == text


def test_japanese_with_kana_is_not_read_as_the_chinese_that_it_declares() -> None:
    assert decode(PROSE.encode("euc_jp"), "a.html", "gb2312") == PROSE


def test_a_line_that_never_switches_back_to_ascii_ends_with_its_line() -> None:
    content = PROSE.encode("iso2022_jp").removesuffix(b"\x1b(B") + b"\nand English\n"
    assert decode(content, "mail.eml").endswith("\nand English\n")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("𠮷野家と𩸽", "utf-8"),
        ("𠮷野家と𩸽", "utf-16"),
        ("𠮟る", "shift_jis_2004"),
        ("𠮟る①", "euc_jis_2004"),
        ("髙①㈱ﾊﾝｶｸ", "cp932"),
    ],
)
def test_characters_beyond_the_old_standard_are_read(text: str, encoding: str) -> None:
    assert decode((PROSE + text).encode(encoding), "a.txt") == PROSE + text


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp"])
def test_a_bad_byte_or_a_cut_end_does_not_cost_the_whole_file(encoding: str) -> None:
    content = (PROSE * 40).encode(encoding)
    cut = decode(content[:-4], "a.txt")
    assert cut.startswith(PROSE * 39)
    middle = content.index("。".encode(encoding), len(content) // 2) + len("。".encode(encoding))
    spoilt = decode(content[:middle] + b"\xff" + content[middle:], "a.txt")
    assert spoilt.startswith(PROSE * 20)
    assert spoilt.endswith(PROSE * 18)


def test_a_stray_nul_does_not_cost_the_whole_file() -> None:
    content = (PROSE * 40).encode()
    assert decode(content[:90] + b"\0" + content[90:], "a.txt") == PROSE * 40


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_read_whatever_it_holds(order: str) -> None:
    text = "\u3000" + PROSE + "\n\u3000" + PROSE
    assert decode(text.encode(order), "a.txt") == text


@pytest.mark.parametrize(
    "text",
    [
        "Ärger über Öl: die Größe der Straße genügt für alle.",
        "Où êtes-vous allés cet été ? « Là-bas », dit-elle à l’élève.",
        "¿Qué pasó mañana? ¡Nada, señor! Precio: 5 €.",
        "Datei »%s« ist leer",
        "Le groupe « %s » n'existe pas.",
        "Für die Prüfung",
        "C’è nuova posta. Modalità: última",
        "I’m here, don’t worry",
        "L’espace attribué : forêt, cœur, aîné",
        "Mon–Fri, the word—word, A–Z, O’Neil",
        "CAMINHO SECÇÃO NOME",
        "Škoda",
        "A ilha de São Tomé",
    ],
)
def test_western_text_that_declares_nothing_is_read(text: str) -> None:
    assert decode(text.encode("cp1252"), "a.txt") == text


def test_the_second_declaration_counts_where_the_first_does_not_hold() -> None:
    content = "привет, мир".encode("koi8_r")
    assert decode(content, "a.html", "utf-8", "koi8-r") == "привет, мир"
    assert decode(content, "a.html", "no-such-charset", "koi8-r") == "привет, мир"


@pytest.mark.parametrize("declared", ["hex", "rot13", "idna", "zlib", "utf-7", "utf\0-8", "unicode_escape"])
def test_a_codec_that_is_no_charset_is_not_used(declared: str) -> None:
    assert decode(PROSE.encode("cp932"), "a.html", declared) == PROSE

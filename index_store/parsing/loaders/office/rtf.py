"""RTF (specification 1.9.1): text in each font's own character set, headings by outline level, lists, tables, notes.

Left out: headers and footers, comments, hidden and deleted text, pictures, readings above kanji. Our own code, because
striprtf 0.0.35 knows neither headings nor tables nor hidden text, and drops notes.
"""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from index_store.base.errors import EmptyDocument, NoText, Unreadable, WrongContent
from index_store.parsing.loaders.content import content_kind, unreadable
from index_store.parsing.loaders.document import LoadedDocument, Page, RawFile, only_highest, title_of
from index_store.parsing.loaders.markdown import as_markdown
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings
from index_store.parsing.loaders.office import eq_field
from index_store.parsing.loaders.office.rtf_blocks import Blocks
from index_store.parsing.loaders.office.symbol_fonts import characters
from index_store.parsing.loaders.office.word.styles import HEADING

_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)|\\\Z",
    re.S,
)
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 78: "cp932", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250",
}  # fmt: skip
_SYMBOLS = 2
"""the character set of fonts with pictures in place of letters"""
_UNNAMED = "?"
_FONT_NAME = 64
"""characters of a font's name that are read"""
_WORDS = {
    "tab": " ", "line": "\n", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
    "endash": "–", "emdash": "—", "enspace": " ", "emspace": "\u3000", "qmspace": " ", "nestcell": " ", "nestrow": "\n",
}  # fmt: skip
_SKIPPED = {
    "colortbl", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "comment",
    "annotation", "atnid", "atnauthor", "xe", "tc", "rxe", "bkmkstart", "nonshppict", "shprslt", "sp", "filetbl",
    "revtbl", "private", "nonesttables", "do", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "ftncn", "aftncn",
    "objdata", "objclass", "template", "themedata", "background",
}  # fmt: skip
_READ_THOUGH_NEW = {b"shpinst", b"fldinst", b"pntext"}
"""destinations that older programs must ignore, but which hold text"""
_CONTENTS = re.compile(r"(toc|目次) ?\d", re.I)

DEPTH = 10_000
"""groups inside groups; with more, the file is no document"""


@dataclass(frozen=True)
class _State:
    """The values that a group may change and restores at its end."""

    destination: str = ""
    """where text goes: "" is the document; "skip" nowhere"""
    encoding: str = ""
    symbol_font: str = ""
    """its name, if the font has pictures in place of letters"""
    is_raised: bool = False
    is_struck: bool = False
    hidden: frozenset[str] = frozenset()
    """those of "v" and "deleted" that are on"""
    skip_after_unicode: int = 1
    style: int = 0
    level: int = 0
    in_table: bool = False


@dataclass
class _Style:
    level: int = 0
    name: str = ""


def load(file: RawFile) -> LoadedDocument:
    content = file.content
    if not content.strip():
        raise EmptyDocument(name=file.name)
    kind = content_kind(content.lstrip(b"\xef\xbb\xbf \t\r\n"))
    if kind != "RTF":
        if kind:
            raise WrongContent(name=file.name, content=kind)
        raise unreadable(file.name, content)
    reader = _Reader(content)
    if not reader.is_whole:
        raise Unreadable(name=file.name)
    markdown = "\n\n".join(block for block in reader.blocks.done if block.strip())
    if not markdown:
        raise NoText(name=file.name)
    title = title_of(file.name, reader.gathered["title"], only_highest(reader.blocks.headings))
    return LoadedDocument(title=title, pages=with_plain_headings([Page(markdown=markdown + "\n")]))


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.blocks = Blocks()
        self.gathered: dict[str, str] = {"title": ""}
        """destination -> its text, for destinations other than the document"""
        self._encoding = "cp1252"
        self._fonts: dict[int, int] = {}
        """number -> character set"""
        self._font_names: dict[int, str] = {}
        self._font = 0
        self._styles: dict[int, _Style] = {}
        self._state = _State()
        self._stack: list[_State] = []
        self._bytes = bytearray()
        self._skip = 0
        """characters that follow a Unicode one in its place, for older programs"""
        self.is_whole = self._read(content)

    def _read(self, content: bytes) -> bool:
        """Returns whether all groups were closed; the last brace may be missing."""
        at = 0
        is_new = False
        while found := _TOKEN.match(content, at):
            text = found["text"] and self._completed(found["text"], content[found.end() : found.end() + 1])
            at = found.start() + len(text) if text else found.end()
            if found["brace"] == b"{":
                self._flush()
                self._skip = 0
                if len(self._stack) >= DEPTH:
                    return False
                self._stack.append(self._state)
            elif found["brace"] == b"}":
                self._flush()
                self._skip = 0
                if not self._stack:
                    break
                self._close(self._stack.pop())
                if not self._stack:
                    break
            elif found["symbol"] == b"*":
                is_new = True
                continue
            elif found["word"] == b"bin":
                at += max(int(found["number"] or 0), 0)
            elif found["word"]:
                if is_new and found["word"] not in _READ_THOUGH_NEW:
                    self._state = replace(self._state, destination="skip")
                elif self._state.destination != "skip":
                    number = int(found["number"]) if found["number"] else None
                    self._word(found["word"].decode().lower(), number)
            elif self._state.destination != "skip":
                self._characters(found, text)
            is_new = False
        self._flush()
        # The unfinished rest of a table is text, too.
        self._state = _State()
        self._paragraph()
        self.blocks.end_table()
        return len(self._stack) <= 1

    def _completed(self, text: bytes, following: bytes) -> bytes:
        """The text with the byte behind it, if that is the second one of its last character, and neither a brace nor a
        backslash: some programs write the two bytes of 本 and 表 as they are.
        """
        if text[-1] < 0x80 or self._state.symbol_font:
            return text
        encoding = self._state.encoding or self._encoding
        decoder = codecs.getincrementaldecoder(encoding)("ignore")
        decoder.decode(text)
        half, _ = decoder.getstate()
        try:
            return text + following if half and (half + following).decode(encoding) else text
        except UnicodeDecodeError:
            return text

    def _characters(self, found: re.Match[bytes], text: bytes | None) -> None:
        if found["hex"]:
            raw = bytes.fromhex(found["hex"].decode())
        elif found["symbol"]:
            self._symbol(found["symbol"])
            return
        else:
            raw = text or b""
        skipped = min(self._skip, len(raw))
        self._skip -= skipped
        self._bytes += raw[skipped:]

    def _symbol(self, symbol: bytes) -> None:
        if symbol in b"{}\\":
            self._bytes += symbol
        elif symbol in b"~_":
            self._put("-" if symbol == b"_" else " ")
        elif symbol in b"\r\n":
            self._word("par", None)

    def _word(self, word: str, number: int | None) -> None:
        self._flush()
        self._skip = 0
        state = self._state
        is_on = number != 0
        match word:
            case "u":
                self._put_unicode(number or 0)
            case "uc":
                self._state = replace(state, skip_after_unicode=min(max(number or 0, 0), 10))
            case "ansicpg" if _is_encoding(f"cp{number}"):
                self._encoding = f"cp{number}"
            case "f" if state.destination == "fonttbl":
                self._font = number or 0
            case "fcharset" if state.destination == "fonttbl":
                self._fonts[self._font] = number or 0
            case "f" | "deff":
                self._use_font(number or 0)
            case "plain":
                self._state = replace(
                    state, encoding="", symbol_font="", is_raised=False, is_struck=False, hidden=frozenset()
                )
            case "v" | "deleted":
                self._state = replace(state, hidden=state.hidden | {word} if is_on else state.hidden - {word})
            case "super" | "up":
                self._state = replace(state, is_raised=is_on)
            case "strike" | "striked":
                self._state = replace(state, is_struck=is_on)
            case "sub" | "dn" | "nosupersub":
                self._state = replace(state, is_raised=False)
            case "pard":
                self._state = replace(state, style=0, level=0, in_table=False)
            case "intbl":
                self._state = replace(state, in_table=True)
            case "s":
                self._use_style(number or 0)
            case "outlinelevel":
                self._set_level((number or 0) + 1)
            case "par" | "sect" | "page":
                self._paragraph()
            case "cell" | "row" | "trowd" | "clvmrg" | "clmrg" | "cellx":
                self._table_word(word, number or 0)
            case "title" | "fldinst" | "listtext" | "pntext" | "footnote":
                name = "listtext" if word == "pntext" else word
                self._state = replace(state, destination=name)
                self.gathered[name] = ""
            case "fonttbl" | "stylesheet" | "info":
                self._state = replace(state, destination=word)
            case _ if word in _SKIPPED:
                self._state = replace(state, destination="skip")
            case _ if word in _WORDS:
                self._put(_WORDS[word])

    def _table_word(self, word: str, number: int) -> None:
        match word:
            case "cell":
                self.blocks.end_cell()
            case "row":
                self.blocks.end_row()
            case "trowd":
                self.blocks.begin_row()
            case "clvmrg":
                self.blocks.join_above()
            case "clmrg":
                self.blocks.join_beside()
            case "cellx":
                self.blocks.add_place(number)

    def _put_unicode(self, number: int) -> None:
        code = number % 0x10000
        self._put(self._symbols([code]) if self._state.symbol_font else chr(code))
        self._skip = self._state.skip_after_unicode

    def _use_font(self, number: int) -> None:
        charset = self._fonts.get(number)
        name = self._font_names.get(number, "").strip(" ;") or _UNNAMED
        self._state = replace(
            self._state, encoding=_CHARSETS.get(charset or -1, ""), symbol_font=name if charset == _SYMBOLS else ""
        )

    def _use_style(self, number: int) -> None:
        self._state = replace(self._state, style=number)
        if self._state.destination == "stylesheet":
            self._styles[number] = _Style()

    def _set_level(self, level: int) -> None:
        self._state = replace(self._state, level=level if 0 < level < 10 else 0)
        if self._state.destination == "stylesheet" and self._state.style in self._styles:
            self._styles[self._state.style].level = self._state.level

    def _flush(self) -> None:
        """Decodes bytes to text, only whole characters: the bytes of one may be written in two ways."""
        if self._bytes:
            raw = bytes(self._bytes)
            self._bytes.clear()
            if self._state.symbol_font:
                self._put(self._symbols(raw))
            else:
                self._put(raw.decode(self._state.encoding or self._encoding, "replace"))

    def _symbols(self, codes: Iterable[int]) -> str:
        is_bullet = self._state.destination == "listtext"
        return "•" if is_bullet else characters(codes, self._state.symbol_font)

    def _put(self, text: str) -> None:
        if self._state.hidden or self._state.destination == "skip":
            return
        if self._state.destination in ("", "footnote"):
            text = as_markdown.raised(text) if self._state.is_raised else text
            text = as_markdown.struck(text) if self._state.is_struck else text
        match self._state.destination:
            case "":
                self.blocks.put(text)
            case "fonttbl":
                self._font_names[self._font] = (self._font_names.get(self._font, "") + text)[:_FONT_NAME]
            case "stylesheet" if self._state.style in self._styles:
                self._styles[self._state.style].name += text
            case name if name in self.gathered:
                self.gathered[name] += text

    def _close(self, outer: _State) -> None:
        """Ends a group."""
        ended = self._state.destination
        self._state = outer
        if ended == outer.destination or ended not in ("listtext", "footnote", "fldinst"):
            return
        text = self.gathered.pop(ended, "").strip()
        if ended == "listtext":
            self.blocks.label = text
        elif ended == "footnote":
            self._put(f" ({text}) ")
        else:
            self._put(eq_field.shown(text))

    def _paragraph(self) -> None:
        if self._state.destination:
            self._put("\n")
            return
        if self._state.in_table:
            self.blocks.end_line()
            return
        style = self._styles.get(self._state.style, _Style())
        named = HEADING.fullmatch(style.name.strip(" ;"))
        level = self._state.level or style.level or (int(named[1]) if named else 0)
        self.blocks.end_paragraph(level, is_shown=not _CONTENTS.match(style.name.strip()))


def _is_encoding(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True

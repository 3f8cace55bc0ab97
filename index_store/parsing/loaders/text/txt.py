"""Plain text: its headings are plain lines, or what its own notation marks, as that of Aozora Bunko does.

Aozora Bunko writes readings in 《》 after kanji, and notes in ［＃…］. Neither is text. The notation:
https://www.aozora.gr.jp/annotation/
"""

import re
from pathlib import PurePath

from index_store.base.errors import EmptyDocument, TooMuchText, WrongContent
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.document import CHARACTERS, Heading, LoadedDocument, Page, RawFile
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings
from index_store.parsing.loaders.text.decode import decode, with_plain_newlines

READINGS = 3
"""kanji with readings that prove the notation; one or two may be quotation marks"""

# Lengths are limited: a line of brackets that never close would cost its length squared.
_KANJI = "々〆一-鿿㐀-䶿豈-﫿\U00020000-\U0003ffff"
_READING = re.compile(rf"(?:｜([^｜《》\n]{{1,40}})|(?<=[{_KANJI}ヶ※］]))《[ぁ-ゖァ-ヺー・ゝゞヽヾ\u3000 ]{{1,30}}》")
_NOTE = re.compile(r"［＃[^［］\n]{0,200}］")
_GAIJI = re.compile(r"※［＃[^［］\n]{0,100}?第[34]水準(\d)-(\d{1,2})-(\d{1,2})[^［］\n]{0,100}］")
_HEADING = re.compile(r"［＃「([^」\n]{1,100})」は(?:同行|窓)?([大中小])見出し］")
_LEVELS = {"大": 1, "中": 2, "小": 3}
_LEGEND = re.compile(r"^-{20,}\n【テキスト中に現れる記号について】.*?^-{20,}\n", re.M | re.S)


def load(file: RawFile) -> LoadedDocument:
    text = read_text(file)
    if _is_aozora(text):
        text, headings = _without_notes(text)
        page = Page(markdown=text, headings=headings)
        return LoadedDocument(title=text.lstrip().split("\n")[0][:100], pages=[page])
    pages = with_plain_headings([Page(markdown=text, headings=())])
    return LoadedDocument(title=PurePath(file.name).stem, pages=pages)


def read_text(file: RawFile) -> str:
    """The text with plain newlines. Raises WrongContent, UnknownEncoding, EmptyDocument, TooMuchText."""
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    text = with_plain_newlines(decode(file.content, file.name, file.charset)).replace("\f", "\n")
    if not text.strip():
        raise EmptyDocument(name=file.name)
    if len(text) > CHARACTERS:
        # Raised here: the rows or lines made from it take several times as much memory.
        raise TooMuchText(name=file.name, limit=f"{CHARACTERS:,}")
    return text


def _is_aozora(text: str) -> bool:
    return bool(_LEGEND.search(text)) or (bool(_NOTE.search(text)) and len(_READING.findall(text)) >= READINGS)


def _without_notes(text: str) -> tuple[str, tuple[Heading, ...]]:
    """The text as it would be printed without readings, and the headings that its notes mark."""
    text = _GAIJI.sub(_gaiji, _LEGEND.sub("", text))
    text = _READING.sub(lambda found: found[1] or "", text)
    lines = []
    headings = []
    for number, line in enumerate(text.split("\n")):
        heading = _HEADING.search(line)
        lines.append(_NOTE.sub("", line))
        if heading:
            headings.append(Heading(line=number, level=_LEVELS[heading[2]], text=_NOTE.sub("", heading[1])))
    return "\n".join(lines), tuple(headings)


def _gaiji(found: re.Match[str]) -> str:
    """A character given by its place in JIS X 0213: plane, row and cell."""
    plane, row, cell = (int(number) for number in found.groups())
    code = bytes((0xA0 + row, 0xA0 + cell)) if row <= 94 and cell <= 94 else b""
    return ((b"\x8f" if plane == 2 else b"") + code).decode("euc_jis_2004", "ignore") or "※"

"""Markdown: headings underlined with === or --- become # and ##, front matter gives the title, comments and the data of
pictures are removed.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath

from index_store.parsing.loaders.document import HEADING, Heading, LoadedDocument, Page, RawFile, fence_mark
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings
from index_store.parsing.loaders.text.txt import read_text

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
"""YAML, or TOML between +++"""
_KEY = {"---": re.compile(r"^\w[\w-]*:", re.M), "+++": re.compile(r"^\w[\w-]*[ \t]*=", re.M)}
_TITLE = re.compile(
    r"^title[ \t]*[:=][ \t]*(?:[>|][+-]?[ \t]*\n[ \t]+)?(?=\S)[\"']?(?![\"'>|+-]*[ \t]*$)(.+?)[\"']?[ \t]*$", re.M
)
"""perhaps on the line below, as a block of YAML; not an empty one, which a template leaves"""
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_STARTS_BLOCK = re.compile(r" {0,3}([#>|]|[-*+] |\d+[.)] )| {4}")
_COMMENT = re.compile(r" {0,3}<!--")
_PICTURE = re.compile(r"!\[([^\]]{0,200})\]\(<?data:[^\s()>]*+>?[^()]{0,200}\)")
_PICTURE_BELOW = re.compile(r" {0,3}\[[^\]]{1,100}\]:[ \t]*<?data:")
"""the line that holds a picture to which the text refers, as Google Docs writes them"""
_MARKS = re.compile(
    r"!?\[(?P<link>[^\[\]]{1,200})\]\([^()]{0,500}\)|`(?P<code>[^`]+)`|</?[a-zA-Z][^<>]{0,200}>|\*\*"
    r"|[ \t]*\{[#.:][^{}]{0,200}\}$|\\(?P<sign>[!-/:-@\[-`{-~])"
)
"""the parts of a heading that are not its words: links, code, tags, bold, an anchor, and the backslashes with which
Google Docs and Pandoc write a sign: 1\\. 目的
"""


def load(file: RawFile) -> LoadedDocument:
    text = read_text(file)
    title = None
    front = _FRONT_MATTER.match(text)
    if front and _KEY[front[1]].search(front[2]):
        found = _TITLE.search(front[2])
        title = found[1] if found else None
        # A file with only front matter keeps it as its text.
        text = text[front.end() :] if text[front.end() :].strip() else text
    return load_markdown(text, title=title, stem=PurePath(file.name).stem)


def load_markdown(text: str, *, title: str | None, stem: str) -> LoadedDocument:
    """The same for a text that has no front matter. `stem`: the title, if the text has none."""
    lines, headings = _read(text.split("\n"))
    first = next((heading.text for heading in headings if heading.level == 1), None)
    markdown = "\n".join(lines)
    # Headings of its own are named by their words.
    own = {heading.line: heading for heading in headings}
    (read,) = with_plain_headings([Page(markdown=markdown)])
    shown = headings if read.headings is None else [own.get(heading.line, heading) for heading in read.headings]
    page = Page(markdown=markdown, headings=tuple(shown))
    return LoadedDocument(title=title or first or stem, pages=[page])


def _read(lines: list[str]) -> tuple[list[str], list[Heading]]:
    """The lines, with underlined headings as # headings, and which of them are headings."""
    out: list[str] = []
    headings: list[Heading] = []
    for line, is_code in _without_pictures(_without_comments(lines)):
        underline = None if is_code else _UNDERLINE.match(line)
        paragraph = bool(out) and bool(out[-1].strip()) and not _STARTS_BLOCK.match(out[-1])
        alone = len(out) < 2 or not out[-2].strip() or bool(headings and headings[-1].line == len(out) - 2)
        if underline and paragraph and alone:
            out[-1] = ("# " if underline[1][0] == "=" else "## ") + out[-1].strip()
        else:
            out.append(line)
        heading = None if is_code else HEADING.match(out[-1])
        text = _plain(heading[2]) if heading else ""
        if heading and text:
            headings.append(Heading(line=len(out) - 1, level=len(heading[1]), text=text))
    return out, headings


def _without_pictures(lines: Iterator[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """The same without pictures that are in the file itself: megabytes of base64. The words for them stay."""
    for line, is_code in lines:
        if is_code or "data:" not in line:
            yield line, is_code
        elif not _PICTURE_BELOW.match(line):
            yield _PICTURE.sub(r"\1", line), False


def _without_comments(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code; comments that begin inside a line stay."""
    last = max((at for at, line in enumerate(lines) if "-->" in line), default=-1)
    fence = ""
    in_comment = False
    for at, line in enumerate(lines):
        mark = "" if in_comment else fence_mark(line, fence)
        if mark:
            fence = "" if fence else mark
        if fence or mark:
            yield line, True
            continue
        # A comment that never ends is text.
        in_comment = in_comment or (bool(_COMMENT.match(line)) and at <= last)
        if not in_comment:
            yield line, False
        elif "-->" in line:
            in_comment = False
            rest = line.partition("-->")[2].strip()
            if rest:
                yield rest, False


def _plain(heading: str) -> str:
    return " ".join(_MARKS.sub(lambda found: found["link"] or found["code"] or found["sign"] or "", heading).split())

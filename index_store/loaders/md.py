"""Markdown: headings underlined with === or --- become # and ##, front matter gives the title."""

import re
from pathlib import PurePath

from index_store.loaders.headings import FENCE
from index_store.loaders.loaded import Loaded, Page, RawFile
from index_store.loaders.txt import read_text

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.M)
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_STARTS_BLOCK = re.compile(r" {0,3}([#>|]|[-*+] |\d+[.)] )| {4}")
_H1 = re.compile(r" {0,3}#[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$")


def load(file: RawFile) -> Loaded:
    text = read_text(file)
    title = None
    front = _FRONT_MATTER.match(text)
    if front and re.search(r"^\w[\w-]*:", front[1], re.M):
        found = _TITLE.search(front[1])
        title = found[1] if found else None
        # A file of nothing but front matter keeps it as its text.
        text = text[front.end() :] if text[front.end() :].strip() else text
    lines, first = _hashed(text.split("\n"))
    return Loaded(title=title or first or PurePath(file.name).stem, pages=[Page(markdown="\n".join(lines))])


def _hashed(lines: list[str]) -> tuple[list[str], str | None]:
    """The lines with underlined headings as # ones, and the text of the first h1."""
    out: list[str] = []
    fence = ""
    first = None
    for line in lines:
        mark = FENCE.match(line)
        if mark and (not fence or (mark[1][0] == fence[0] and len(mark[1]) >= len(fence))):
            fence = "" if fence else mark[1]
        underline = None if fence or mark else _UNDERLINE.match(line)
        paragraph = bool(out) and bool(out[-1].strip()) and not _STARTS_BLOCK.match(out[-1])
        alone = len(out) < 2 or not out[-2].strip() or bool(_H1.match(out[-2]))
        if underline and paragraph and alone:
            out[-1] = ("# " if underline[1][0] == "=" else "## ") + out[-1].strip()
        else:
            out.append(line)
        h1 = None if fence or mark or not out else _H1.match(out[-1])
        if h1 and first is None:
            first = h1[1].replace("**", "").strip()
    return out, first

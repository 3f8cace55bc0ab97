"""The body of a page as Markdown: its main part where it names one, without navigation, banners and forms.

Our own code, because an extractor made for news (trafilatura 2.3) drops the headings of DocBook and Sphinx pages, and
three quarters of the text of one page: dropped text can't be found. No tag costs more than its own children, however
deep it is.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from textwrap import indent

from index_store.parsing.loaders.html.asides import drop_asides
from index_store.parsing.loaders.html.formula import on_a_line
from index_store.parsing.loaders.html.ordinals import Ordinals
from index_store.parsing.loaders.html.questions import name_questions
from index_store.parsing.loaders.html.tree.node import BLOCKS, Holds, Node
from index_store.parsing.loaders.markdown.as_markdown import code_block, with_raised
from index_store.parsing.loaders.markdown.header_rows import Cell, header_rows, title_rows
from index_store.parsing.loaders.markdown.tables import BESIDE, REPEATED, completed, has_no_header, unescaped, with_rule
from index_store.parsing.loaders.sheet import Sheet, Span

MAIN_SHARE = 0.5
"""share of a page's text that its main element must hold: some pages have their text elsewhere"""
VALUE = 300
"""characters or tags of a cell that holds headings, code or a table; above it, the cell is a text"""
LISTS = 10
"""levels of lists that are indented"""
_OF_EXCEL = re.compile(r"xl\d{1,6}")
"""class of a cell that Excel wrote, which stays when it is pasted into a mail"""
_GOOGLE_LEVEL = re.compile(r"\blst-kix_\w{1,40}-(\d)\b")
"""class of a list, and its level: Google Docs writes the lists inside others beside them"""
SPANNED = 100_000
"""cells that spans may add to a page, and COLUMNS for one span: a page may claim any number"""
COLUMNS = 100
_LINE = "\x13"
"""stands where a block in code begins or ends, while its lines are found"""
_MARK = re.compile(r"([QＱAＡ])[.．]?\s?\d{0,3}[.．:：]?")
"""what many lists of questions write into a tag of its own: <span>Q</span>When?"""
MARK_PARTS = 4
"""tags and texts in which such a mark stands"""
_ASKED = re.compile(r"[QＱ][.．]?\s?\d{0,3}[.．:：]?\s")
"""the same at the beginning of a heading"""
_WRITTEN = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre", "ul", "ol", "table"})
"""blocks that are more than paragraphs"""
SHEET = "waffle"
"""class of a table that Google Sheets has made of a whole sheet, with its letters and row numbers"""


def body_markdown(root: Node) -> str:
    """Changes the tree: it removes what is dropped."""
    root = _main(root)
    drop_asides(root)
    name_questions(root)
    blocks = (block.strip("\n") for block in _Writer().blocks(root))
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


_JAPANESE = "[\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff]"
_TWO_SCRIPTS = re.compile(rf"(?<=[a-z])\0(?={_JAPANESE})|(?<={_JAPANESE})\0(?=[a-z])", re.I)


def heading_text(node: Node) -> str:
    """On one line, without what is dropped. Words of two scripts in tags of their own stand apart, as many sites in
    Japan show <span>COMPANY</span>会社概要.
    """
    text = _TWO_SCRIPTS.sub(" ", "\0".join(_texts(node))).replace("\0", "")
    return " ".join(_squeezed(text).split())


def _main(root: Node) -> Node:
    found: dict[str, list[Node]] = {"main": [], "role": [], "article": []}
    for node in root.nodes():
        if node.tag in ("main", "article"):
            found[node.tag].append(node)
        elif node.attributes.get("role") == "main":
            found["role"].append(node)
    candidates = found["main"] or found["role"] or found["article"]
    if len(candidates) == 1 and candidates[0].length > MAIN_SHARE * root.length:
        return candidates[0]
    return root


_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:)-?([a-z0-9+#-]{1,20})")


class _Writer:
    def __init__(self) -> None:
        self._lists = 0
        self._spanned = 0
        self._is_asked = False
        """whether a question was marked: until then, an A alone is a letter"""

    def blocks(self, node: Node) -> Iterator[str]:
        """The blocks of text under the node, in order."""
        inline: list[str] = []
        is_marked = False  # whether there is no more in it than the mark of a question or an answer
        stack = [iter(node.children)]
        while stack:
            child = next(stack[-1], None)
            if isinstance(child, str) or (child is not None and not child.holds & Holds.BLOCK):
                text = _inline(child)
                if is_marked and (first := text.lstrip()[:1]):
                    is_marked = False
                    inline += [] if "a" <= first <= "z" else [" "]  # the first letter of a text may be a large Q
                inline.append(text)
                is_marked = is_marked or (not isinstance(child, str) and self._is_mark(inline))
                continue
            is_marked = is_marked or self._is_mark(inline)
            if is_marked and (len(stack) > 1 if child is None else child.tag not in _WRITTEN):
                inline.append(" ")  # its words are in the next block
            else:
                yield from _paragraph(inline)
                inline, is_marked = [], False
            if child is None:
                stack.pop()
                continue
            match child.tag:
                case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                    if text := heading_text(child):
                        self._is_asked = self._is_asked or bool(_ASKED.match(text))
                        yield "#" * int(child.tag[1]) + " " + text
                case "pre":
                    yield from _code(child)
                case "ul" if _is_of_sections(child) and not self._lists:
                    stack.append(iter(child.children))
                case "ul" | "ol" if self._lists < LISTS:
                    self._lists += 1
                    yield self._list(child)
                    self._lists -= 1
                case "table":
                    rows = [_cells(row) for row in _rows(child)]
                    if SHEET in child.names or not _is_frame(child, rows):
                        yield from self._table(child, rows)
                    else:
                        stack.append(chain(_captions(child), *rows) if any(rows) else iter(child.children))
                case _:
                    stack.append(iter(child.children))

    def _is_mark(self, inline: list[str]) -> bool:
        mark = _MARK.fullmatch("".join(inline).strip()) if 0 < len(inline) <= MARK_PARTS else None
        self._is_asked = self._is_asked or (mark is not None and mark[1] in "QＱ")
        return mark is not None and self._is_asked

    def _list(self, node: Node) -> str:
        lines: list[str] = []
        ordinals = Ordinals(node) if node.tag == "ol" else None
        for item in node.children:
            if isinstance(item, str):
                lines += _paragraph([item])
                continue
            if item.tag != "li":
                # Browsers give it neither a number nor a sign: it belongs to the entry above.
                body = "\n".join(self.blocks(Node("", {}, [item])))
                lines += [indent(body, "   " if ordinals else "  ")] if body.strip() else []
                continue
            ordinal = ordinals.next(item) if ordinals else ""
            mark = f"{ordinal}. " if ordinal else "- "
            body = "\n".join(self.blocks(item))
            if body.strip():
                lines.append(mark + body.replace("\n", "\n" + " " * len(mark)))
        level = _GOOGLE_LEVEL.search(node.attributes.get("class", ""))
        return indent("\n".join(lines), "   " * min(int(level[1]), LISTS)) if level else "\n".join(lines)

    def _table(self, table: Node, rows: list[list[Node]]) -> Iterator[str]:
        if SHEET in table.names:
            lines, _ = self._grid(rows)
            # The rows of the sheet begin with its row number; others are its letters, and the line below frozen rows.
            yield from _sheet(cells for number, *cells in lines if number)
            return
        for caption in _captions(table):
            yield from _paragraph([_inline(caption)])
        if any(_OF_EXCEL.fullmatch(cell.attributes.get("class", "")) for row in rows for cell in row):
            yield from _sheet(self._grid(rows)[0])
        else:
            yield from self._rows_of_texts(rows)

    def _rows_of_texts(self, rows: list[list[Node]]) -> Iterator[str]:
        grid, carried = self._grid(rows)
        texts = [row for row in completed(grid, *_header_rows(rows, grid, carried)) if any(row)]
        if not texts:
            return
        used = sorted({column for row in texts for column, text in enumerate(row) if text})
        if len(used) < 2:
            # A box: the other columns held a picture.
            yield from (text for row in texts for cell in row for text in _paragraph([cell]))
            return
        while len(texts) > 2 and len(texts[0]) == 1:
            yield from _paragraph([unescaped(texts.pop(0)[0])])
        if has_no_header(texts):
            written = (unescaped(" ".join(filter(None, row))) for row in texts)
            yield "\n".join(text for line in written for text in _paragraph([line]))
            return
        yield with_rule([[], *texts] if len(used) == 2 and _are_labelled(rows) else texts, used)

    def _grid(self, rows: list[list[Node]]) -> tuple[list[list[str]], list[set[int]]]:
        """The cells' texts in their columns, and in each row the columns whose cells began in a row above. A cell that
        spans rows is in each row, so that each row is complete.
        """
        grid: list[list[str]] = []
        carried: list[set[int]] = []
        below: dict[int, tuple[int, str]] = {}
        """column -> rows still spanned, and the text"""

        def carry(line: list[str]) -> None:
            while len(line) in below:
                left, text = below.pop(len(line))
                if left > 1:
                    below[len(line)] = (left - 1, text)
                carried[-1].add(len(line))
                line.append(text)

        for row in rows:
            line: list[str] = []
            carried.append(set())
            for cell in row:
                carry(line)
                text = _squeezed(_inline(cell)).replace("\n", " ").replace("|", "\\|")
                rowspan = self._span(cell, "rowspan")
                for column in range(self._span(cell, "colspan")):
                    if rowspan > 1:
                        below[len(line)] = (rowspan - 1, BESIDE if column else text if len(text) <= REPEATED else "")
                    line.append(BESIDE if column else text)
            carry(line)
            grid.append(line)
        return grid, carried

    def _span(self, cell: Node, name: str) -> int:
        if name not in cell.attributes:
            return 1
        value = cell.attributes[name].strip()
        span = min(max(int(value[:5]), 1), COLUMNS) if value.isascii() and value.isdigit() else 1
        self._spanned += span - 1
        return span if self._spanned < SPANNED else 1


def _is_of_sections(ul: Node) -> bool:
    """Whether each entry has a heading: themes write the parts of a page so."""
    entries = [entry for entry in ul.children if isinstance(entry, Node) and entry.length]
    has_text = any(entry.holds & Holds.TEXT for entry in entries)
    return has_text and all(entry.holds & Holds.HEADING for entry in entries)


def _sheet(lines: Iterable[list[str]]) -> Iterator[str]:
    """The blocks of a sheet with these cells."""
    sheet = Sheet()
    for number, cells in enumerate(lines):
        starts = [column for column, text in enumerate(cells) if text != BESIDE]
        row = {column: unescaped(cells[column]) for column in starts if cells[column]}
        if row:
            sheet.rows[number] = row
        ends = pairwise([*starts, len(cells)])
        sheet.spans += [Span(number, start, number, end - 1) for start, end in ends if end - start > 1]
    yield from sheet.blocks()


def _are_labelled(rows: list[list[Node]]) -> bool:
    """Whether each row has its own header at its left, and no other, as in the profile of a company: the first of them
    is none of the columns.
    """
    return len(rows) > 2 and all([cell.tag for cell in row] == ["th", "td"] for row in rows)


def _is_frame(table: Node, rows: list[list[Node]]) -> bool:
    """Whether it is only for layout, or only a box."""
    return _is_layout(table, rows) or max(map(len, rows), default=0) < 2


def _captions(table: Node) -> list[Node]:
    return [part for part in table.children if isinstance(part, Node) and part.tag == "caption"]


def _is_layout(table: Node, rows: list[list[Node]]) -> bool:
    """Whether it arranges texts: cells hold headings, code or tables, and are more than values under their headers; or
    texts stand beside each other in a single row.
    """
    parts = Holds.TABLE | Holds.HEADING | Holds.CODE
    if not table.holds & parts:
        return _is_row_of_texts(rows)
    cells = [cell for row in rows for cell in row]
    is_headed = sum(cell.tag == "th" for cell in cells) > 1
    return not is_headed or any(cell.holds & parts and not _is_value(cell) for cell in cells)


def _is_row_of_texts(rows: list[list[Node]]) -> bool:
    """Whether a single row has several cells, one of them with lines: old pages put the menu beside the text so."""
    wide = [row for row in rows if len(row) > 1 and any(cell.length for cell in row)]
    if len(wide) != 1 or any("rowspan" in cell.attributes for cell in wide[0]):
        return False
    lines = ("br", "p", "li")
    return any(sum(node.tag in lines for node in islice(cell.nodes(), VALUE)) > 1 for cell in wide[0])


def _is_value(cell: Node) -> bool:
    """Whether a cell's text can stand on one line."""
    nodes = list(islice(cell.nodes(), VALUE + 1))
    is_short = cell.length <= VALUE and len(nodes) <= VALUE
    return is_short and not any("\n" in _inline(node).strip("\n") for node in nodes if node.tag == "pre")


def _header_rows(rows: list[list[Node]], grid: list[list[str]], carried: list[set[int]]) -> tuple[int, int]:
    """How many rows are headers, if words of the first are over several columns, and how many above them titles."""
    if not rows or not any("colspan" in cell.attributes for cell in rows[0]):
        return 1, 0
    merged = [list(_merged(line, from_above)) for line, from_above in zip(grid, carried, strict=True)]
    titles = title_rows(merged)
    below = rows[titles:]
    if all(cell.tag == "td" for cell in below[0]):
        # As Excel, Word and Outlook write all cells.
        return header_rows(merged[titles:]), titles
    headers = next((at for at, row in enumerate(below) if any(cell.tag != "th" for cell in row)), len(below))
    return headers if 0 < headers < min(len(below), 4) else 1, titles


def _merged(line: list[str], from_above: set[int]) -> Iterator[Cell]:
    starts = [column for column, text in enumerate(line) if text != BESIDE]
    for start, end in pairwise([*starts, len(line)]):
        yield Cell(start, end - start, line[start], start in from_above)


def _rows(table: Node) -> list[Node]:
    """In the order in which browsers draw them: a foot comes last, though HTML 4 wanted it before the body."""
    parts = sorted(_nearest(table, ("tr", "tfoot")), key=lambda part: part.tag == "tfoot")
    return [row for part in parts for row in ([part] if part.tag == "tr" else _nearest(part, ("tr",)))]


def _cells(row: Node) -> list[Node]:
    return list(_nearest(row, ("td", "th")))


def _nearest(node: Node, tags: Iterable[str]) -> Iterator[Node]:
    """The nodes of these tags below this one, except those of inner tables."""
    stack = [iter(node.children)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif isinstance(child, Node):
            if child.tag in tags:
                yield child
            elif child.tag not in ("table", "caption"):
                stack.append(iter(child.children))


def _code(node: Node) -> Iterator[str]:
    code = with_raised("".join(_texts(node, between=_LINE)), is_divided=False)
    code = re.sub(f"{_LINE}*\n{_LINE}*|{_LINE}+", "\n", code).replace("\v", "\n").strip("\n")
    if code.strip():
        yield code_block(code, _language(node))


def _language(node: Node) -> str:
    """The language that the classes of the code, or of its parent, name."""
    inner = [child for child in node.children if isinstance(child, Node) and child.tag == "code"]
    found = (_LANGUAGE.fullmatch(name) for tag in (node, *inner) for name in sorted(tag.names))
    return next((match[1] for match in found if match), "")


def _inline(node: Node | str) -> str:
    """The text as in the source; \\v is a line break of the page. Raised text is still marked."""
    return node if isinstance(node, str) else "".join(_texts(node))


def _texts(node: Node, between: str = " ") -> list[str]:
    """The texts between the tags; `between`: what stands around a block."""
    if node.tag == "br":
        return ["\v"]
    parts: list[str] = []
    stack = list(reversed(on_a_line(node)))
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            parts.append(part)
        elif part.tag == "br":
            parts.append("\v")
        elif part.tag in BLOCKS:
            # Inside a cell or a heading.
            parts.append(between)
            stack += [between, *reversed(part.children)]
        else:
            if part.tag == "mfrac" and parts and parts[-1][-1:].isdigit():
                parts.append(" ")  # a mixed number: 1 1/2
            stack += reversed(on_a_line(part))
    return parts


def _paragraph(inline: list[str]) -> Iterator[str]:
    text = _squeezed("".join(inline))
    if text:
        # A line of text that begins with # is no heading, and one of ~~~ or ``` opens no code.
        yield re.sub(r"^(?=#{1,6}\s|```|~~~)", "\\\\", text, flags=re.M)


_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_SPACE = r"[^\S\v\u3000\u00a0]"
_BREAK_PLACES = re.compile("[\u200b\u00ad]")
_WRAPPED = re.compile(rf"(?<={_WIDE}){_SPACE}*\n{_SPACE}*(?={_WIDE})")
_SPACES = re.compile(rf"{_SPACE}+")
_BREAK = re.compile(r" ?\v ?")


def _squeezed(text: str) -> str:
    """White space as a browser shows it: one space, and none where a line of Japanese was wrapped."""
    if text.isascii() and text.isalnum():
        return text
    text = with_raised(text, is_divided=False)
    text = _BREAK_PLACES.sub("", text)
    text = _WRAPPED.sub("", text)
    text = _SPACES.sub(" ", text)
    return _BREAK.sub("\n", text).strip(" \n\v")

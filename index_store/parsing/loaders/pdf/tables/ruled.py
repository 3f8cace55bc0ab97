"""Ruled tables of a PDF's page: the texts between its rules, where cells are beside each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pypdfium2 import PdfTextPage

from index_store.parsing.loaders.pdf.characters import HYPHENS, WIDE, box_of, is_slanted
from index_store.parsing.loaders.pdf.line import Line, RuledTable, line_of
from index_store.parsing.loaders.pdf.paragraphs import joined, next_word, unhyphenated
from index_store.parsing.loaders.pdf.tables.rules import Grid, grids
from index_store.parsing.loaders.sheet import Span

_Pieces = dict[Span, list[tuple[int, int]]]
"""cell -> first character and end of each of its lines"""


def ruled_tables(page: PdfTextPage, characters: list[str], turn: int) -> dict[int, Line]:
    """Empties the characters of ruled tables. Returns each table as a line, by its first character."""
    found = grids(page.page, turn) if any(map(str.strip, characters)) else []
    tables: dict[int, Line] = {}
    for grid, cells in zip(found, _pieces(page, characters, turn, found), strict=True):
        # A line marks its raised figures.
        copy = list(characters)
        lines = {
            span: [line for start, end in pieces if (line := line_of(page, copy, turn, start, end))]
            for span, pieces in cells.items()
        }
        if _is_table(grid, lines) and not _are_parted(characters, cells):
            indexes = [at for pieces in cells.values() for start, end in pieces for at in range(start, end)]
            tables[min(indexes)] = _table_line(grid, lines)
            for at in indexes:
                characters[at] = ""
    return tables


def _pieces(page: PdfTextPage, characters: list[str], turn: int, found: Sequence[Grid]) -> list[_Pieces]:
    """For each of the grids found."""
    pieces: list[_Pieces] = [{} for _ in found]
    before: tuple[int, Span] | None = None
    for index, character in enumerate(characters if found else ()):
        if character.isspace() and character not in "\r\n":
            continue
        cell = _cell_of(page, index, turn, found) if character.strip() else None
        if cell:
            at, span = cell
            inside = pieces[at].setdefault(span, [])
            start = inside.pop()[0] if cell == before else index
            inside.append((start, index + 1))
        if character:
            before = None if character in HYPHENS else cell
    return pieces


def _are_parted(characters: list[str], cells: _Pieces) -> bool:
    """Whether most of the lines begin inside a word: rules that run through the text, as those of squared paper do."""
    starts = [start for pieces in cells.values() for start, _ in pieces]
    return 2 * sum(start > 0 and bool(characters[start - 1].strip()) for start in starts) > len(starts)


def _is_table(grid: Grid, lines: Mapping[Span, list[Line]]) -> bool:
    """Whether cells are beside each other, unlike frames, and rows have rules between them."""
    beside = Counter(row for span, written in lines.items() if written for row in range(span.top, span.bottom + 1))
    return max(beside.values(), default=0) > 1 and not _has_rows_without_rules(grid, lines)


def _cell_of(page: PdfTextPage, index: int, turn: int, found: Sequence[Grid]) -> tuple[int, Span] | None:
    """The grid, and the cell of it, in which a character stands."""
    box = box_of(page, index, turn)
    if box is None:
        return None
    cell = next(((at, span) for at, grid in enumerate(found) if (span := grid.cell_at(box))), None)
    return cell if cell and not is_slanted(page, index) else None


def _has_rows_without_rules(grid: Grid, lines: Mapping[Span, list[Line]]) -> bool:
    """Whether two cells beside each other have several lines that end at the same heights before they are full."""
    ends: Counter[tuple[int, int, float]] = Counter()
    for span, written in lines.items():
        breaks = [line for line, following in pairwise(written) if _stops(line, following, written, grid.sides(span))]
        ends.update({(span.top, span.bottom, round(line.across / (line.size or 1))) for line in breaks})
    rows = Counter((top, bottom) for (top, bottom, _), cells in ends.items() if cells > 1)
    return any(count > 1 for count in rows.values())


def _table_line(grid: Grid, lines: Mapping[Span, list[Line]]) -> Line:
    cells = [
        (span, text)
        for span, written in sorted(lines.items(), key=lambda item: (item[0].top, item[0].left))
        if (text := _cell_text(written, grid.sides(span)))
    ]
    text = "\t".join(text for _, text in cells)
    every = [line for written in lines.values() for line in written]
    size, weight = Counter((line.size, line.weight) for line in every).most_common(1)[0][0]
    return Line(
        text, grid.places[0], grid.places[-1], grid.heights[0] + size, size, size=size, weight=weight,
        table=RuledTable(cells, list(pairwise(grid.places))),
    )  # fmt: skip


def _cell_text(lines: list[Line], sides: tuple[float, float]) -> str:
    text = lines[0].text.strip() if lines else ""
    for line, following in pairwise(lines):
        if _stops(line, following, lines, sides):
            text += "\n" + following.text.strip()
        else:
            text = joined(text, following.text.strip())
    return unhyphenated(text)


def _stops(line: Line, following: Line, lines: list[Line], sides: tuple[float, float]) -> bool:
    """Whether the next word would have fitted behind this line of a cell."""
    one, other = line.text.strip(), following.text.strip()
    if len(one) == len(other) == 1 and WIDE.match(one) and WIDE.match(other):
        # A word that is written downwards.
        return False
    left, right = sides
    margin = min(line.size, *(min(each.begin - left, right - each.end) for each in lines))
    return next_word(line, following) < right - left - 2 * max(margin, 0) - (line.end - line.begin)

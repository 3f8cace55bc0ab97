"""Splits a sheet into blocks: tables with headers, and the text around them.

People put several tables, titles and forms on one sheet; Markdown needs them one after another.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from index_store.parsing.loaders.markdown import as_markdown, tables
from index_store.parsing.loaders.markdown.header_rows import names_period

HEADER_SHARE = 0.5
"""share of a block's columns that its first row must fill to be their header; a form fills fewer"""
ABOVE = 5
"""rows at most that hold a title, a date or a unit directly above a header"""
BELOW = 3
"""rows of several cells below a header that must be alike, if it isn't the first row; a form hardly has so many"""
FEW = 4
"""columns, of which a title and a date fill half; they would be taken for a header"""
GAP = 2
"""empty rows inside one table at most; more separate two tables"""
FILLED = 1_000_000
"""cells at most that repeat merged ones; overlapping ranges, which only broken files have, would never end"""

Row = dict[int, str]
"""column, from 0 -> text; without empty cells"""

_DATA = re.compile(r"[(△▲¥￥\\$€£+-]*+[.,:/%年月日時分秒円-]*+\d[\d.,:/%年月日時分秒円)-]*+")
_TOTAL = re.compile(r"[小合総]?\s?計|(?:sub-?|grand )?total", re.I)
"""stands below the items of an order, which may be one or two"""
_UNIT = re.compile(r"[(（\[［〔][^()（）\[\]［］〔〕]{1,12}[)）\]］〕]")
_WEEKDAY = re.compile(r"[(（]?(?:[日月火水木金土](?:曜日?)?|(?:sun|mon|tue|wed|thu|fri|sat)[a-z]{0,6}\.?)[)）]?", re.I)
WEEKDAYS = 3
"""below as many dates at least, they name columns"""
_PERIOD = re.compile(r"[^\W\d_]|^(19|20)\d\d$")
"""found in data that can name a column: it has a letter, such as 4月, or is a year"""
_COUNTED = re.compile(r"(?:\d{1,4}[/-]){0,2}(\d{1,2})")
"""a month, a day or a small number, such as 2026/4, 4/1 or 1"""
COUNTED = 3
"""of these that count up, at least, name columns"""


@dataclass(frozen=True)
class Span:
    """A merged range: rows and columns, both inclusive."""

    top: int
    left: int
    bottom: int
    right: int


class Sheet:
    def __init__(self, above: tables.RowsAbove | None = None) -> None:
        """`above`: the rows of the page before, if its table goes on in this sheet."""
        self._above = above
        self.rows: dict[int, Row] = {}
        """row number -> its cells, in order; without empty rows"""
        self.hidden: bytes | bytearray = b""
        """for each column, 1 if it is hidden; columns behind its end are not"""
        self.spans: list[Span] = []
        self._spans_at: dict[int, list[Span]] = {}
        """row number -> the spans that begin in it"""
        self._wide_at: dict[int, list[Span]] = {}
        """row number -> the spans over several columns that have a text in it"""
        self._bottoms: dict[int, dict[int, int]] = {}
        """row number -> column of each merged cell that has a text in it -> the last row of this cell"""
        self._left = FILLED

    def blocks(self) -> Iterator[str]:
        for span in self.spans:
            self._spans_at.setdefault(span.top, []).append(span)
        self._repeat_merged()
        for block in self._parts():
            yield from self._written(block)

    def _repeat_merged(self) -> None:
        """Puts a cell that spans rows into each row, so that each row is complete."""
        for span in self.spans:
            text = self.rows.get(span.top, {}).get(span.left)
            if not text:
                continue
            for number in range(span.top, min(span.bottom, span.top + self._left) + 1):
                self._left -= 1
                if number in self.rows:
                    self.rows[number].setdefault(span.left, text)
                    self._bottoms.setdefault(number, {})[span.left] = span.bottom
                    if span.right > span.left:
                        self._wide_at.setdefault(number, []).append(span)

    def _repeat_across(self, table: list[tuple[int, Row]], labels: int, named: set[int]) -> None:
        """Puts a cell that spans columns into each that the header names, unless it begins in that of the labels."""
        for number, row in table:
            for span in self._wide_at.get(number, []):
                if span.left not in row or span.left <= labels:
                    continue
                for column in range(span.left + 1, min(span.right, max(named), span.left + self._left) + 1):
                    self._left -= 1
                    if column in named:
                        row.setdefault(column, row[span.left])

    def _parts(self) -> Iterator[list[int]]:
        """Row numbers that belong together."""
        block: list[int] = []
        header: Row | None = None
        for number in self.rows:
            if block and number - self._end(block[-1]) > 1:
                header = self._header(block) if header is None else header
                if not self._goes_on(header, block[-1], number):
                    yield block
                    block, header = [], None
            block.append(number)
        if block:
            yield block

    def _end(self, number: int) -> int:
        """The last row that all cells of this one reach: on a sheet of low rows, each is merged with those below."""
        bottoms = self._bottoms.get(number, {})
        return min(bottoms.get(column, number) for column in self.rows[number])

    def _header(self, numbers: list[int]) -> Row:
        """Of the table in a block; empty if it has no rows below."""
        start = self._start([(number, self.rows[number]) for number in numbers])
        table = numbers[start:]
        headers = self._header_rows(table) if len(table) > 1 else 0
        return {column: text for number in table[:headers] for column, text in self.rows[number].items()}

    def _goes_on(self, header: Row, last: int, number: int) -> bool:
        """Whether a row after a gap belongs to the table above: it has values under a header of words, or words as the
        last row has, and is no header itself.
        """
        row, following = self.rows[number], self.rows.get(self._end(number) + 1, {})
        gap = number - self._end(last) - 1
        if gap > GAP or len(row) < 2 or not row.keys() <= header.keys() or not _is_named(header):
            return False
        # What counts up below words is values: a header of days repeats one of days.
        if _is_named(row) and not _is_named(following) and (_data_of(header) or not _data_of(row)):
            return False
        if any(map(is_data, row.values())):
            return True
        are_words = not any(map(is_data, self.rows[last].values()))
        return gap == 1 and row.keys() == header.keys() and row != header and are_words

    def _written(self, numbers: list[int]) -> Iterator[str]:
        rows = [self.rows[number] for number in numbers]
        # A single cell is a title, which may be over several tables.
        header = next((number for number in numbers if len(self.rows[number]) > 1), numbers[0])
        wide = {span.left: span.right for span in self._wide_at.get(header, [])}
        edges = _side_by_side(rows, wide, self.hidden)
        parts: list[dict[int, Row]] = [{} for _ in range(len(edges) + 1)]
        for number, row in zip(numbers, rows, strict=True):
            for column in sorted(row):
                parts[bisect_right(edges, column)].setdefault(number, {})[column] = row[column]
        for part in parts:
            yield from self._block(list(part.items()))

    def _block(self, block: list[tuple[int, Row]]) -> Iterator[str]:
        start = self._start(block)
        if start:
            yield "\n".join(as_markdown.paragraph(" ".join(row.values())) for _, row in block[:start])
        table = block[start:]
        if not table:
            return
        columns = sorted({column for _, row in table for column in row})
        headers = self._header_rows([number for number, _ in table])
        header = tables.joined_header(_grid(table[:headers], columns))
        named = {column for column, name in zip(columns, header, strict=True) if name}
        is_listed = headers == 1 and tables.has_no_header(_grid(table, columns))
        if is_listed or len(named) < HEADER_SHARE * len(columns):
            grid = [header, *_grid(table[headers:], columns)]
            yield "\n".join(as_markdown.paragraph(" ".join(filter(None, row))) for row in grid)
        else:
            self._repeat_across(table[headers:], columns[0], named)
            yield tables.table([header, *_grid(table[headers:], columns)], self._above)

    def _start(self, block: list[tuple[int, Row]]) -> int:
        """The row at which the table begins, below titles and notes: single cells, or rows shorter than its header."""
        rows = [row for _, row in block]
        first = next((at for at, row in enumerate(rows) if len(row) > 1), len(rows))
        above = range(first, min(first + ABOVE + 1, len(rows)))
        widest = max((len(rows[at]) for at in above), default=0)
        for at in above:
            numbers = [number for number, _ in block[at:]]
            headers = self._header_rows(numbers)
            if headers > self._named_rows(numbers):
                return at  # units and days stand below the names of columns alone
            if headers > 1 or len(rows[at]) > max(2, HEADER_SHARE * widest):
                header = {column: text for row in rows[at : at + headers] for column, text in row.items()}
                # The name of a group stands alone in its row.
                below = list(islice((row for row in rows[at + headers :] if len(row) > 1), BELOW))
                items = list(takewhile(lambda row: not any(map(_TOTAL.fullmatch, row.values())), below))
                if (len(below) == BELOW or len(items) < len(below)) and _is_header(header, items):
                    return at
                if len(items) == BELOW and _are_of_words(rows[first:at], header, items):
                    return at
                if _is_named(header):
                    return first
        return first

    def _header_rows(self, numbers: Sequence[int]) -> int:
        """Of a table with these rows: those of names, and one below them of nothing but units or days of the week."""
        count = self._named_rows(numbers)
        if count + 1 >= len(numbers):
            return count
        row, below = self.rows[numbers[count]], self.rows[numbers[count + 1]]
        names = {column: text for number in numbers[:count] for column, text in self.rows[number].items()}
        own = {column: text for column, text in row.items() if text != names.get(column)}
        if not own.keys() <= names.keys():
            return count
        if all(map(_UNIT.fullmatch, own.values())) and not any(map(is_data, own.values())):
            has_more = len(own) > 1 and any(is_data(below.get(column, "")) for column in own)
        else:
            is_of_days = all(_WEEKDAY.fullmatch(text) and is_data(names[column]) for column, text in own.items())
            has_more = len(own) >= WEEKDAYS and is_of_days
        return count + has_more

    def _named_rows(self, numbers: Sequence[int]) -> int:
        """A header of several rows has words over several columns, and other words that
        span its rows; without the latter, its second row is one of words.
        """
        spans = self._spans_at.get(numbers[0], [])
        wide = [span for span in spans if span.right > span.left]
        if not wide:
            return 1 + self._are_repeated(numbers)
        if tables.are_pairs(list(self.rows[numbers[0]].values())):
            return 1
        deepest = bisect_right(numbers, max(span.bottom for span in spans))
        below = self.rows[numbers[deepest]] if deepest < len(numbers) else {}
        # A wide word with words below is a header; on a sheet of narrow columns a wide cell is just a cell.
        parted = [sum(span.left <= column <= span.right for column in below) > 1 for span in wide]
        under = self.rows[numbers[deepest + 1]] if deepest + 1 < len(numbers) else {}
        has_data = any(is_data(text) and not names_period(text, under.get(at, "")) for at, text in below.items())
        is_of_words = deepest == 1 and all(parted) and not has_data
        if is_of_words:
            deepest = 2
        if deepest >= min(len(numbers), 4):
            return 1
        rows = numbers[:deepest]
        is_form = not is_of_words and any(self._has_word_below(row, rows[at:]) for at, row in enumerate(rows, 1))
        return 1 if is_form else deepest

    def _are_repeated(self, numbers: Sequence[int]) -> bool:
        """Whether the first row has names over those of the columns, as in a CSV, which can't merge: they are repeated,
        or those below them are. The corner is empty in one of the rows.
        """
        if len(numbers) < 3:
            return False
        first, second, third = (self.rows[number] for number in numbers[:3])
        columns = sorted(first.keys() | second.keys())
        whole = tables.joined_header(_grid([(0, first), (1, second)], columns))
        is_named = _is_named(first) and not any(map(is_data, second.values()))
        if not is_named or not second.keys() - first.keys():
            return False
        are_told_apart = len(set(second.values())) < len(second) and len(set(whole)) == len(columns)
        if columns[0] in first:
            return columns[0] not in second and are_told_apart and any(is_data(third.get(at, "")) for at in second)
        has_data = any(is_data(third.get(column, "")) for column in first)
        is_above = first.keys() < second.keys()
        return is_above and has_data and (len(set(first.values())) < len(first) or are_told_apart)

    def _has_word_below(self, number: int, rows: Sequence[int]) -> bool:
        """Whether a cell of one column has another below it in these rows, as the fields of a form beside a label."""
        wide = {span.left for span in self._wide_at.get(number, [])}
        bottoms = self._bottoms.get(number, {})
        return any(
            column in self.rows[row] and row > bottoms.get(column, number)
            for column in self.rows[number].keys() - wide
            for row in rows
        )


def _grid(table: list[tuple[int, Row]], columns: list[int]) -> list[list[str]]:
    return [[row.get(column, "") for column in columns] for _, row in table]


def _side_by_side(rows: list[Row], wide: dict[int, int], hidden: bytes | bytearray) -> list[int]:
    """First columns of tables that are next to others: both sides have a full header of two columns or more.

    `wide`: first and last column of each merged cell of the header. These are no gap, and nor are hidden columns.
    """
    runs: list[list[int]] = []
    end = 0
    for column in sorted({column for row in rows for column in row}):
        if runs and hidden.count(1, end, column) >= column - end:
            runs[-1].append(column)
        else:
            runs.append([column])
        end = max(end, wide.get(column, column) + 1)
    if len(rows) < 2 or len(runs) < 2:
        return []
    top = next((at for at, row in enumerate(rows) if len(row) > 1), 0)
    if all(sum(column in rows[top] for column in run) == 1 for run in runs):
        rows = rows[top + 1 :]  # each has a title of its own
    headed = [_is_headed(rows, run) for run in runs]
    return [run[0] for at, run in enumerate(runs) if at and headed[at - 1] and headed[at]]


def _is_headed(rows: list[Row], columns: list[int]) -> bool:
    first = next((row for row in rows if any(column in row for column in columns)), {})
    return len(columns) > 1 and all(column in first for column in columns)


def _is_header(row: Row, below: list[Row]) -> bool:
    """Whether it has words, and the rows below are about as wide and all have data in one of its columns."""
    return (
        bool(below)
        and _is_named(row)
        and all(len(under.keys() & row.keys()) > HEADER_SHARE * len(row) for under in below)
        and any(all(is_data(under.get(column, "")) for under in below) for column in row)
    )


def _are_of_words(titles: list[Row], header: Row, below: list[Row]) -> bool:
    """Whether a title with a date or a name at the right end, and no words between them, stands above names and rows
    that fill each column. In a form, which may have pairs of labels and words below its title, it could not tell.
    """
    if not titles or not _is_named(header) or (len(header) > FEW and not len(header) % 2):
        return False
    are_titles = all(min(row) == min(header) and max(row) - min(row) >= len(row) > 1 for row in titles)
    return are_titles and all(row.keys() == header.keys() for row in below)


def _is_named(row: Row) -> bool:
    """Whether each of its texts can name a column; data can if they count up."""
    data = _data_of(row)
    return not data or _count_up(data)


def _data_of(row: Row) -> list[str]:
    """Its data without months and years."""
    return [text for text in row.values() if is_data(text) and not _PERIOD.search(text)]


def _count_up(texts: list[str]) -> bool:
    """Whether they are different, and each is one more than the one before or begins with 1 again, as after 4/30."""
    numbers = [int(found[1]) for found in map(_COUNTED.fullmatch, texts) if found]
    are_steps = all(following in (number + 1, 1) for number, following in pairwise(numbers))
    return len(numbers) == len(texts) == len(set(texts)) >= COUNTED and are_steps


def is_data(text: str) -> bool:
    """Whether it is a number, an amount or a date, which seldom stands in a header; it may be struck through."""
    return bool(_DATA.fullmatch(text.strip("~")))

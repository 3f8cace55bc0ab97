"""CSV and TSV in any of the encodings of `decode.py`: the first row of each table is its header.

The delimiter is the one that splits the rows most evenly. The standard library's Sniffer chooses a letter in files
with few rows, and fails on text between quotes.
"""

import csv
import io
import re
from collections import Counter
from pathlib import PurePath

from index_store.base.errors import NoText
from index_store.parsing.loaders.document import LoadedDocument, Page, RawFile
from index_store.parsing.loaders.sheet import Sheet
from index_store.parsing.loaders.text.txt import read_text

DELIMITERS = ",\t;|"
"""the most likely first"""
SAMPLE = 200
"""rows that are read to find the delimiter"""
FIELD = 10_000_000
"""characters of a cell at most: as many as a document may have"""
LINES = 200
"""lines of a cell; above it, its quotation mark was never closed"""

_AS_TEXT = re.compile(r'="([^"]*)"\Z')
"""a formula with which programs tell Excel to keep the zeros of a number"""
_SEPARATOR = re.compile(r"sep=(.)\n", re.I)
"""the line that tells Excel the delimiter"""


def load(file: RawFile) -> LoadedDocument:
    text = read_text(file)
    declared = _SEPARATOR.match(text)
    if declared:
        text = text[declared.end() :]
    sheet = Sheet()
    for number, row in enumerate(_rows(text, declared[1] if declared else _delimiter(text)), 1):
        cells = {column: _AS_TEXT.sub(r"\1", cell.strip()) for column, cell in enumerate(row) if cell.strip()}
        if cells:
            sheet.rows[number] = cells
    markdown = "\n\n".join(sheet.blocks())
    if not markdown.strip():
        raise NoText(name=file.name)
    return LoadedDocument(title=PurePath(file.name).stem, pages=[Page(markdown=markdown + "\n")])


def _delimiter(text: str) -> str:
    sample = "".join(text.splitlines(keepends=True)[:SAMPLE]) if len(text) < FIELD else text[:100_000]

    def evenness(delimiter: str) -> tuple[float, int, bool]:
        """The share of rows with the most frequent number of columns, if it is above one; that number; and whether
        every row has it and the delimiter is no comma, which is also in numbers.
        """
        counts = Counter(len(row) for row in _rows(sample, delimiter) if any(cell.strip() for cell in row))
        columns, rows = max(counts.items(), key=lambda found: (found[0] > 1, found[1]), default=(0, 0))
        share = rows / counts.total() if columns > 1 else 0.0
        return share, columns if share else 0, share == 1 and delimiter != ","

    return max(DELIMITERS, key=evenness)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(FIELD)
    skips = delimiter != " "  # else a quotation mark after a space would begin no cell
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=skips))
    except csv.Error:
        rows = []
    if not rows or any(cell.count("\n") > LINES for cell in rows[-1]):
        return [line.split(delimiter) for line in text.split("\n")]
    return rows

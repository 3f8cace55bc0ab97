import pytest

from index_store.parsing.loaders.pdf.headings import Headings, headings_by_size
from index_store.parsing.loaders.pdf.line import Line


def headings_of(bold: str) -> Headings:
    """Those of a page with one bold line in the size of its text."""
    text = "この規程は、社員の出張について定める。"
    lines = [*[(text, 400)] * 4, (bold, 700), *[(text, 400)] * 4]
    return headings_by_size([
        [Line(text, 70, 500, 700 - 20 * at, 12, size=12, weight=weight) for at, (text, weight) in enumerate(lines)]
    ])  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "１．目的", "1.目的", "1. 目的", "1.2．目的", "１、目的", "（１）目的", "(1) 目的", "１－１\u3000目的",
        "１．１\u3000目的", "一、目的", "十二、目的", "第３節\u3000目的", "第３章",
    ],
)  # fmt: skip
def test_a_bold_line_with_a_number_is_a_heading(line: str) -> None:
    assert headings_of(line) == {0: [(4, 1, 1)]}


@pytest.mark.parametrize("line", ["1.5倍", "2026.4.1改訂", "10、20名", "3-5日", "03-1234-5678 総務部", "重要"])
def test_a_bold_amount_or_date_is_no_heading(line: str) -> None:
    assert headings_of(line) == {}

import json
from collections.abc import Callable
from typing import Any

import pytest

from index_store.base.errors import DocumentError, EmptyDocument, Unreadable, WrongContent
from index_store.parsing.loaders.document import LoadedDocument, RawFile
from index_store.parsing.loaders.text.notebook import load

Read = Callable[..., LoadedDocument]

PYTHON = {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}}


@pytest.fixture
def read(raw: Callable[..., RawFile]) -> Read:
    def loaded(*cells: Any, metadata: Any = PYTHON, **notebook: Any) -> LoadedDocument:
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells, **notebook}
        return load(raw(json.dumps(content).encode(), "sales.ipynb"))

    return loaded


def text(source: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: Any, *outputs: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def result(**data: Any) -> dict[str, Any]:
    names = {"plain": "text/plain", "html": "text/html", "markdown": "text/markdown", "png": "image/png"}
    return {"output_type": "execute_result", "data": {names[name]: form for name, form in data.items()}}


def printed(written: Any, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": written}


def test_texts_code_and_outputs_stand_in_their_order_below_their_headings(read: Read) -> None:
    found = read(
        text(["# 売上の分析\n", "\n", "2026年度の数字です。"]),
        code(["total = 1200\n", "print(total)"], printed(["1200\n"])),
        text("結果\n----\n増えた。"),
    )
    assert found.title == "売上の分析"
    [page] = found.pages
    assert [(heading.level, heading.text) for heading in page.headings or ()] == [(1, "売上の分析"), (2, "結果")]
    assert page.markdown.split("\n\n") == [
        "# 売上の分析",
        "2026年度の数字です。",
        "```python\ntotal = 1200\nprint(total)\n```",
        "```\n1200\n```",
        "## 結果\n増えた。",
    ]


def test_a_comment_in_code_is_no_heading_and_backticks_close_no_block(read: Read) -> None:
    [page] = read(code("# load the data\ntext = '''\n```\n'''")).pages
    assert page.headings == ()
    assert page.markdown == "````python\n# load the data\ntext = '''\n```\n'''\n````"


def test_a_table_is_read_as_one_and_of_several_forms_the_richest(read: Read) -> None:
    table = "<table><tr><th>支店<th>売上<tr><td>大阪<td>1,200</table>"
    [page] = read(
        code("frame", result(html=["<div>", table, "</div>"], plain="    支店  売上\n0  大阪 1,200")),
        code("show", result(markdown="**確定**", plain="<Markdown object>")),
        code("x", result(html="<b>3</b>", plain="3")),
    ).pages
    assert "| 支店 | 売上 |" in page.markdown
    assert "| 大阪 | 1,200 |" in page.markdown
    assert "**確定**" in page.markdown
    assert "```\n3\n```" in page.markdown
    assert "object" not in page.markdown


def test_pictures_warnings_colours_and_progress_bars_are_left_out_and_an_error_is_not(read: Read) -> None:
    failed = {
        "output_type": "error",
        "ename": "KeyError",
        "evalue": "'price'",
        "traceback": ["\x1b[31mKeyError\x1b[0m"],
    }
    attached = {"a.png": {"image/png": "iVBORw0KGgo="}}
    [page] = read(
        text("Seen below.") | {"attachments": attached},
        code("plot()", result(png="iVBORw0KGgo=", plain="<Figure size 640x480>"), printed("deprecated", "stderr")),
        code("go()", printed(" 10%|#\r 50%|###\r100%|######\n\x1b[32mdone\x1b[0m\n"), failed),
    ).pages
    assert "iVBOR" not in page.markdown
    assert "deprecated" not in page.markdown
    assert "```\n100%|######\ndone\n```\n\n```\nKeyError: 'price'\n```" in page.markdown


def test_the_third_version_is_read_too(read: Read) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Costs"]},
        {
            "cell_type": "code",
            "language": "R",
            "input": ["summary(costs)"],
            "outputs": [
                {"output_type": "pyout", "text": ["Mean 12"]},
                {"output_type": "stream", "stream": "stderr", "text": "warning"},
            ],
        },
    ]
    found = read(nbformat=3, worksheets=[{"cells": cells}], metadata={"name": ""})
    assert found.title == "sales"
    assert found.pages[0].markdown == "## Costs\n\n```r\nsummary(costs)\n```\n\n```\nMean 12\n```"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'{"cells": [', Unreadable),
        (b"[" * 100_000, Unreadable),
        (b"[]", Unreadable),
        (b'{"name": "no notebook"}', Unreadable),
        (b'{"cells": []}', EmptyDocument),
        (b"<!DOCTYPE html><title>Sign in</title>", WrongContent),
        (b"%PDF-1.7\n%\0", WrongContent),
    ],
)
def test_what_is_no_notebook_or_an_empty_one_is_refused(
    content: bytes, error: type[DocumentError], raw: Callable[..., RawFile]
) -> None:
    with pytest.raises(error):
        load(raw(content, "a.ipynb"))


@pytest.mark.parametrize("odd", [None, 3, "text", [], {}, [3, None], {"a": 1}])
@pytest.mark.parametrize(
    "cell",
    [
        lambda odd: odd,
        lambda odd: {"cell_type": odd, "source": odd},
        lambda odd: {"cell_type": "heading", "level": odd, "source": "H"},
        lambda odd: code("a", odd, {"output_type": odd, "data": odd}, {"data": {"text/html": odd}}),
        lambda odd: code("a") | {"outputs": odd, "language": odd},
    ],
)
def test_parts_of_other_types_than_the_format_says_cost_only_themselves(cell: Any, odd: Any, read: Read) -> None:
    assert "kept" in read(cell(odd), text("kept"), metadata=odd).pages[0].markdown

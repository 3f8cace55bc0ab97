"""Jupyter notebooks: their texts, code and the texts and tables of outputs, as Markdown. Pictures, warnings and what
was printed to a progress bar are left out.

The format: https://nbformat.readthedocs.io/en/latest/format_description.html (4), and 3, in which sheets hold the
cells and headings are cells of their own.
"""

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from index_store.base.errors import EmptyDocument, PageWithoutText, Unreadable, WrongContent
from index_store.parsing.loaders.content import content_kind, unreadable
from index_store.parsing.loaders.document import LoadedDocument, RawFile
from index_store.parsing.loaders.html.html import load_html
from index_store.parsing.loaders.markdown.as_markdown import code_block, heading
from index_store.parsing.loaders.text.decode import decode
from index_store.parsing.loaders.text.md import load_markdown

_TERMINAL = re.compile(r"\x1b\[[\d;]{0,20}[A-Za-z]")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n)", re.M)
_LANGUAGE = re.compile(r"[\w+#-]{1,30}")


def load(file: RawFile) -> LoadedDocument:
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    try:
        # Not `read_text`: pictures count as nothing there may be too much of.
        notebook = json.loads(decode(file.content, file.name, file.charset))
    except (ValueError, RecursionError) as error:
        raise unreadable(file.name, file.content) from error
    if not isinstance(notebook, dict) or notebook.keys().isdisjoint(("cells", "worksheets")):
        raise Unreadable(name=file.name)
    metadata = _dict(notebook.get("metadata"))
    language = _text(_dict(metadata.get("kernelspec")).get("language"))
    language = language or _text(_dict(metadata.get("language_info")).get("name"))
    markdown = "\n\n".join(part for cell in _cells(notebook) for part in _parts(cell, language) if part.strip())
    if not markdown:
        raise EmptyDocument(name=file.name)
    return load_markdown(markdown, title=_text(metadata.get("title")).strip() or None, stem=PurePath(file.name).stem)


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for sheet in (notebook, *_dicts(notebook.get("worksheets"))):
        yield from _dicts(sheet.get("cells"))


def _parts(cell: dict[str, Any], language: str) -> Iterator[str]:
    kind, source = cell.get("cell_type"), _text(cell.get("source"))
    if kind == "code":
        source = source or _text(cell.get("input"))
        language = _text(cell.get("language")) or language
        yield code_block(source, language.lower() if _LANGUAGE.fullmatch(language) else "")
        for output in _dicts(cell.get("outputs")):
            yield _output(output)
    elif kind == "heading":
        level = cell.get("level")
        yield heading(level if isinstance(level, int) and level > 0 else 1, source)
    else:
        yield source


def _output(output: dict[str, Any]) -> str:
    """Its richest form that is text."""
    if "stderr" in (output.get("name"), output.get("stream")):
        return ""
    # Of version 3, the output itself holds the forms.
    forms = _dict(output.get("data")) or output
    if markdown := _text(forms.get("text/markdown")):
        return markdown
    html = _text(forms.get("text/html")) or _text(forms.get("html"))
    if "<table" in html:
        try:
            return load_html(html, "").pages[0].markdown
        except PageWithoutText:
            return ""
    said = ": ".join(filter(None, (_text(output.get("ename")), _text(output.get("evalue")))))
    plain = _text(forms.get("text/plain")) or _text(forms.get("text")) or said
    return code_block(_OVERWRITTEN.sub("", _TERMINAL.sub("", plain)).strip("\n"))


def _text(value: Any) -> str:
    """A text is often written as a list of its lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())

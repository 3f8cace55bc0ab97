"""Files and a web page with prompt injections in every place: visible text, hidden text and metadata.

Each injection starts with the name of its place, so that tests can recognise it in any output.
"""

from dataclasses import dataclass
from email.message import EmailMessage
from html import escape
from pathlib import Path
from xml.sax.saxutils import escape as xml
from zlib import crc32

from index_store.parsing.loaders.document import LoadedDocument, RawFile
from index_store.parsing.loaders.formats import BY_SUFFIX
from tests.index_store.parsing.loaders.office_file import WORD, OfficeFile, core_properties
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text
from tests.rag.injections import INJECTIONS, OUTSIDE

ABOUT = "出張の日当について。"
"""the subject of the question too, so that a search finds the text"""

_ORDERS = [each for each in INJECTIONS.values() if each.isascii() and each.isprintable() and len(each) < 80]
"""injections that fit into a header, a title, a file name or a line of a PDF"""

_OUT = f"![x](https://{OUTSIDE}) [x](//{OUTSIDE}) <img src=//{OUTSIDE}>"


def order(place: str) -> str:
    """A different injection for each place, because a search returns only one of several near duplicates."""
    return f"at-{place}: {_ORDERS[crc32(place.encode()) % len(_ORDERS)]} {_OUT}"


@dataclass(frozen=True)
class Carrier:
    content: bytes
    read: frozenset[str]
    """places whose injection is read, and is shown with the passage or in the document's name"""
    left_out: frozenset[str]
    """places whose injection is not read"""


def _carrier(content: bytes, read: str, left_out: str) -> Carrier:
    return Carrier(content, frozenset(read.split()), frozenset(left_out.split()))


def _page(name: str) -> str:
    def at(place: str) -> str:
        return escape(order(f"{name}-{place}"))

    return f"""<!doctype html><html><head><title>{at("title")}</title>
    <meta charset="utf-8"><meta name="description" content="{at("meta")}">
    <meta http-equiv="refresh" content="0;url=https://{OUTSIDE}/{at("refresh")}">
    <script type="application/ld+json">{{"about": "{at("data")}"}}</script></head><body>
    <main><p>{ABOUT}{at("text")}</p><!-- {at("comment")} -->
    <div style="display: none">{at("none")}</div><p hidden>{at("attribute")}</p>
    <p style="visibility:hidden">{at("visibility")}</p><p class="sr-only">{at("screen-reader")}</p>
    <p style="font-size:0;color:#fff;position:absolute;left:-9999px">{at("unseen")}</p>
    <p>See <img src="https://{OUTSIDE}/p.png" alt="{at("alt")}" title="{at("picture-title")}">
    <a href="https://{OUTSIDE}/" title="{at("link-title")}">{at("link")}</a>
    <span aria-label="{at("label")}" data-note="{at("attribute-of-data")}">it</span>.</p>
    <template>{at("template")}</template><noscript>{at("noscript")}</noscript></main></body></html>"""


_IN_A_PAGE = "text title unseen link"
_IN_A_MAIL = "text unseen link"
_LEFT_OUT_OF_A_PAGE = (
    "meta refresh data comment none attribute visibility screen-reader alt picture-title link-title label"
    " attribute-of-data template noscript"
)


def _of(name: str, places: str) -> str:
    return " ".join(f"{name}-{place}" for place in places.split())


def page(name: str) -> Carrier:
    return _carrier(_page(name).encode(), _of(name, _IN_A_PAGE), _of(name, _LEFT_OUT_OF_A_PAGE))


def _pdf() -> Carrier:
    lines = [
        Text(50, 700, f"{ABOUT}{order('pdf-text')}", 8),
        Text(50, 600, order("pdf-white"), 8, paint="1 g"),
        Text(50, 500, order("pdf-unseen"), 8, paint="3 Tr"),
        Text(50, 400, order("pdf-tiny"), 1),
        Text(50, 9000, order("pdf-outside"), 8),
    ]
    content = PdfFile([lines], title=order("pdf-title")).content()
    return _carrier(content, "pdf-text pdf-white pdf-unseen pdf-tiny pdf-outside pdf-title", "")


def _mail() -> Carrier:
    mail = EmailMessage()
    mail["Subject"] = order("mail-subject")
    mail["From"] = f'"{order("mail-from")}" <a@{OUTSIDE}>'
    mail["To"] = "b@example.jp"
    mail["X-Note"] = order("mail-header")
    mail.set_content(f"{ABOUT}{order('mail-text')}\n")
    mail.add_alternative(_page("mail-beside"), subtype="html")
    mail.add_attachment(f"{order('mail-attached')}\n", filename=f"{order('mail-attachment-name')}.txt".replace("/", ""))
    # The HTML has much more than the text, so both are read.
    read = f"mail-subject mail-from mail-text mail-attached mail-attachment-name {_of('mail-beside', _IN_A_MAIL)}"
    return _carrier(mail.as_bytes(), read, f"mail-header {_of('mail-beside', f'title {_LEFT_OUT_OF_A_PAGE}')}")


def _mail_of_html() -> Carrier:
    mail = EmailMessage()
    mail["Subject"] = "出張"
    mail.set_content(_page("mail-html"), subtype="html")
    return _carrier(mail.as_bytes(), _of("mail-html", _IN_A_MAIL), _of("mail-html", _LEFT_OUT_OF_A_PAGE))


def _word() -> Carrier:
    def run(place: str, how: str = "") -> str:
        return f"<w:p><w:r><w:rPr>{how}</w:rPr><w:t>{xml(order(f'word-{place}'))}</w:t></w:r></w:p>"

    described = xml(order("word-alt"), {'"': "&quot;"})
    body = (
        f"<w:p><w:r><w:t>{ABOUT}{xml(order('word-text'))}</w:t></w:r></w:p>"
        f'{run("vanished", "<w:vanish/>")}{run("white", """<w:color w:val="FFFFFF"/><w:sz w:val="2"/>""")}'
        f"<w:p><w:del><w:r><w:delText>{xml(order('word-deleted'))}</w:delText></w:r></w:del></w:p>"
        f'<w:p><w:r><w:drawing><wp:docPr xmlns:wp="w" id="1" name="x" descr="{described}"/></w:drawing></w:r></w:p>'
    )
    file = OfficeFile("word/document.xml")
    for name, content in {
        "document": f"<w:body>{body}</w:body>",
        "comments": f'<w:comment w:id="1">{run("comment")}</w:comment>',
        "footer": run("footer"),
    }.items():
        file.parts[f"word/{name}.xml"] = f"<w:{name} {WORD}>{content}</w:{name}>"
    for name in ("comments", "footer"):
        file.links.append(("word/document.xml", f"rId{name}", name, f"{name}.xml"))
    file.parts["docProps/core.xml"] = core_properties(xml(order("word-title"))).replace(
        "</dc:title>", f"</dc:title><dc:subject>{xml(order('word-subject'))}</dc:subject>"
    )
    return _carrier(
        file.content(),
        "word-text word-white word-title",
        "word-vanished word-deleted word-alt word-comment word-footer word-subject",
    )


CARRIERS = {
    "page.html": page("html"),
    "notice.pdf": _pdf(),
    "mail.eml": _mail(),
    "mail-of-html.eml": _mail_of_html(),
    "notice.docx": _word(),
}
"""by file name"""


def loaded(folder: Path, name: str) -> LoadedDocument:
    """The document that the loader makes of the file."""
    file = folder / name
    file.write_bytes(CARRIERS[name].content)
    return BY_SUFFIX[file.suffix].loader()(RawFile(file, name))


def places(text: str, of: frozenset[str]) -> set[str]:
    """The places whose injection is in `text`."""
    return {each for each in of if f"at-{each}:" in text}

"""Makes small EPUB books for tests."""

import io
import zipfile

CONTAINER = (
    "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'>"
    "<rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>"
)
CHAPTERS = {
    "one.xhtml": "<h1>はじめに</h1><p><ruby>漢字<rt>かんじ</rt></ruby>を読む。</p>",
    "text/two two.xhtml": "<p>The second chapter has no heading.</p>",
    "nav.xhtml": "<nav><a href='one.xhtml'>はじめに</a> <a href='text/two%20two.xhtml#top'>Two</a></nav>",
}
PACKAGE = (
    "<package xmlns='http://www.idpf.org/2007/opf' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
    "<metadata><dc:title>わたしの本</dc:title></metadata><manifest>"
    "<item id='n' href='nav.xhtml' properties='nav'/><item id='b' href='text/two%20two.xhtml'/>"
    "<item id='a' href='one.xhtml'/><item id='gone' href='gone.xhtml'/></manifest>"
    "<spine><itemref idref='n'/><itemref idref='a'/><itemref idref='gone'/><itemref idref='b'/></spine></package>"
)


def book(chapters: dict[str, str] = CHAPTERS, package: str = PACKAGE, **others: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/epub+zip")
        file.writestr("META-INF/container.xml", CONTAINER)
        file.writestr("OEBPS/book.opf", package)
        for name, body in chapters.items():
            file.writestr(f"OEBPS/{name}", f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</body></html>")
        for name, content in others.items():
            file.writestr(f"META-INF/{name}.xml", content)
    return out.getvalue()

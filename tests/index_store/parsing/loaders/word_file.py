"""Makes small Word documents for tests."""

from tests.index_store.parsing.loaders.office_file import WORD, OfficeFile, core_properties

STYLES = """
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="2"><w:name w:val="見出し 2"/></w:style>
<w:style w:type="paragraph" w:styleId="house"><w:name w:val="社内の見出し"/><w:basedOn w:val="2"/></w:style>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="C"><w:name w:val="toc 1"/></w:style>
"""


def p(text: str, style: str = "", properties: str = "") -> str:
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{style}{properties}</w:pPr>{run(text)}</w:p>"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content if content.startswith('<') else p(content)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def document(body: str, title: str = "", **parts: str) -> OfficeFile:
    """`parts`: the XML in styles, numbering, footnotes."""
    file = OfficeFile(
        "word/document.xml", {"word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>"}
    )
    for name, xml in ({"styles": STYLES} | parts).items():
        file.parts[f"word/{name}.xml"] = f"<w:{name} {WORD}>{xml}</w:{name}>"
        file.links.append(("word/document.xml", f"rId{name}", name, f"{name}.xml"))
    if title:
        file.parts["docProps/core.xml"] = core_properties(title)
    return file

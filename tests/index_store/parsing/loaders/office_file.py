"""Makes small Office files for tests: with the content that a test needs, and only the necessary parts."""

import io
import zipfile
from dataclasses import dataclass, field

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_NAMESPACES = (
    f'xmlns:r="{RELATIONS}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
WORD = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" {_NAMESPACES}'
EXCEL = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" {_NAMESPACES}'
POWERPOINT = f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" {_NAMESPACES}'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
"""begins as a file of the old formats, .doc and .xls, and as an encrypted one"""


@dataclass
class OfficeFile:
    main: str
    """name of the part with the document"""
    parts: dict[str, str] = field(default_factory=dict)
    """name -> XML"""
    links: list[tuple[str, str, str, str]] = field(default_factory=list)
    """(part with the link, id, kind, target as written in the file)"""

    def content(self) -> bytes:
        types = (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
        )
        links = [("", "rId0", f"{RELATIONS}/officeDocument", self.main)]
        links += [(part, name, f"{RELATIONS}/{kind}", target) for part, name, kind, target in self.links]
        if "docProps/core.xml" in self.parts:
            links.append(("", "rIdCore", f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"))
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", types)
            for part in {part for part, *_ in links}:
                folder, _, name = part.rpartition("/")
                relations = "".join(_relation(*link) for of, *link in links if of == part)
                archive.writestr(
                    f"{folder}/_rels/{name}.rels".lstrip("/"),
                    f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
                )
            for name, xml in self.parts.items():
                archive.writestr(name, xml)
        return file.getvalue()


def _relation(reference: str, kind: str, target: str) -> str:
    mode = "External" if "://" in target else "Internal"
    return f'<Relationship Id="{reference}" Type="{kind}" Target="{target}" TargetMode="{mode}"/>'


def core_properties(title: str) -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>'
    )

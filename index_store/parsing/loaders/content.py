"""The kind of a file from its first bytes, whatever its name."""

import re

from index_store.base.errors import DocumentError, Unreadable, WrongContent

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""begins the container of Office 97-2003, in which newer documents with a password are, too"""

_SIGNATURES = (
    (b"%PDF-", "PDF"),
    (b"\x89PNG\r\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"PK\x03\x04", "ZIP / Office"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf", "7-Zip"),
    (b"Rar!", "RAR"),
    (b"\x7fELF", "ELF"),
    (b"SQLite format 3\0", "SQLite"),
    (b"{\\rtf", "RTF"),
)

_WEB_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]{0,200}>\s*+)?(?:<!--.{0,500}?-->\s*+)?"
    rb"<(?:!doctype\s+html|html|head|meta|title|body|table|div)\b",
    re.I | re.S,
)


def unreadable(name: str, content: bytes) -> DocumentError:
    """The error of a file that its program can't read: many are web pages, which a server sends to sign in, or tables
    that a program saved as HTML. `content`: at least its beginning.
    """
    return WrongContent(name=name, content="HTML") if _WEB_PAGE.match(content) else Unreadable(name=name)


def content_kind(content: bytes) -> str | None:
    """The format's usual name, or None if the bytes don't show it. Of Office 97-2003, the program is found in the whole
    file alone.
    """
    # A few bytes may come before a PDF's header (PDF 1.7, appendix H).
    if b"%PDF-" in content[:1024] and not content[:1024].lstrip().startswith((b"<", b"#")):
        return "PDF" if content.find(b"%PDF-") == 0 or b"\0" in content[:4096] or b"obj" in content[:4096] else None
    if content.startswith(OLD_OFFICE):
        return next((kind for stream, kind in _STREAMS.items() if _entry(stream) in content), "Office 97-2003")
    return next((kind for signature, kind in _SIGNATURES if content.startswith(signature)), None)


_STREAMS = {
    # Before those of the files that a mail may have in it.
    "__substg1.0_": "Outlook (.msg)",
    "WordDocument": "Word 97-2003 (.doc)",
    "Workbook": "Excel 97-2003 (.xls)",
    "Book": "Excel 5.0/95 (.xls)",
    "PowerPoint Document": "PowerPoint 97-2003 (.ppt)",
}
"""a stream of such a file's directory -> what it is"""


def is_encrypted_office(content: bytes) -> bool:
    """Whether an Office 97-2003 container holds a newer document that is encrypted (MS-OFFCRYPTO 2.3)."""
    return _entry("EncryptedPackage") in content


def _entry(name: str) -> bytes:
    return name.encode("utf-16-le")

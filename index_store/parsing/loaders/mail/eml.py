"""A mail (EML): who wrote to whom and when, when and where an invitation is for, its text, and the attachments that can
be read, each under its name. Those without text are told, as a PDF's pages without text are. So are those with a
password, those beyond the limits below, and documents and archives in formats that can't be read.

If a text is sent both as plain text and as HTML, the plain text is read, unless it lacks tables, headings or much text
of the HTML. Quoted replies stay, as parts of their own in a mail with headings. Other attachments that can't be read
are only named; the mail is loaded all the same. A zip's files are read like attachments. A web page saved as one file
(MHTML) has the form of a mail and is read here.
"""

import logging
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path, PurePath

from index_store.base.errors import DocumentError, NoText, NothingToLoad, PasswordProtected, Unreadable, WrongContent
from index_store.parsing.loaders.archive import unpack
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.document import Heading, LoadedDocument, Page, RawFile
from index_store.parsing.loaders.formats import (
    BY_MEDIA_TYPE,
    BY_SUFFIX,
    LOADABLE,
    UNSUPPORTED_DOCUMENTS,
    Load,
    format_of,
    is_archive,
)
from index_store.parsing.loaders.html.body import body_markdown
from index_store.parsing.loaders.html.html import load_html
from index_store.parsing.loaders.html.tree.tree import parse as parse_html
from index_store.parsing.loaders.mail.invitation import CALENDAR, event_of
from index_store.parsing.loaders.mail.message import (
    attached_mail,
    content_of,
    file_name,
    header,
    leaves,
    parse,
    parts_of,
    text_of,
)
from index_store.parsing.loaders.mail.quoted import headed
from index_store.parsing.loaders.mail.signed import WRAPPED, unwrap

log = logging.getLogger(__name__)

ATTACHMENTS = 50
"""attachments that are read, of a mail and of the mails and archives inside it"""
UNPACKED_MB = 256
"""of an attached archive; ten times what most services accept as a mail"""
DEPTH = 3
"""levels of mails inside mails that are read"""
FULLER = 1.5
"""times the characters of the plain text, above which the HTML says more than that"""

_STRUCTURE = re.compile(r"^(\||#{1,6} )", re.M)
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_REPORTS = ("message/delivery-status", "message/disposition-notification")
_RETURNED = "text/rfc822-headers"
"""the headers of a mail that was not delivered"""
_SHOWN = ("From", "To", "Cc", "Date")
"""the headers that are read beside the subject"""
WINMAIL = "winmail.dat"
"""the usual name of an attachment in which Outlook puts the files of a mail, and its text, for other Outlooks"""
_OF_OUTLOOK = ("application/ms-tnef", "application/vnd.ms-tnef")
_UNSUPPORTED = UNSUPPORTED_DOCUMENTS | {".7z", ".rar", ".lzh", ".tar", ".tgz", ".gz"}
"""suffixes of documents and archives that can't be read"""
_CLOSED = ("application/pgp-encrypted", *WRAPPED)


def load(file: RawFile) -> LoadedDocument:
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    mail = parse(file.content, file.name)
    return _Mailbag(file.name).loaded(mail, DEPTH)


def load_web_archive(file: RawFile) -> LoadedDocument:
    """A web page that a browser saved in one file (MHTML, RFC 2557): only the page, without pictures and frames."""
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    for part in leaves(parse(file.content, file.name)):
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            return load_html(text_of(part, file.name), file.name)
    raise NoText(name=file.name)


@dataclass
class _Parts:
    texts: list[list[Message]] = field(default_factory=list)
    """in order, each with its alternatives"""
    invitations: list[Message] = field(default_factory=list)
    reports: list[Message] = field(default_factory=list)
    """why a mail was not delivered, or that it was opened"""
    returned: list[Message] = field(default_factory=list)
    attachments: list[Message] = field(default_factory=list)


class _Mailbag:
    def __init__(self, name: str) -> None:
        self._name = name
        self._left = ATTACHMENTS
        self._without_text: list[str] = []
        """the attachments of which no text is read, or their names with the pages that have none"""

    def loaded(self, mail: Message, depth: int) -> LoadedDocument:
        unwrap(mail)
        parts = _parts(mail)
        closed = [] if parts.texts else [part for part in leaves(mail) if part.get_content_type() in _CLOSED]
        if any(part.get_param("smime-type") == "signed-data" for part in closed):
            raise Unreadable(name=self._name)
        if closed:
            raise PasswordProtected(name=self._name)
        subject = header(mail, "Subject")
        names = [_name(part) for part in parts.attachments]
        head = _headers(mail, *_SHOWN)
        for event in (event_of(part, self._name) for part in parts.invitations):
            told = {"Summary": subject, "Description": parts.texts}
            head += [f"{label}: {value}" for label, value in event.items() if not told.get(label)]
        head += [f"Attachments: {', '.join(filter(None, names))}"] if any(names) else []
        pages = [
            Page(markdown="\n".join(head), headings=()),
            *(part for text in parts.texts for page in self._text(text) for part in headed(page)),
            *(Page(markdown=_fields(part), headings=()) for part in parts.reports),
            *(Page(markdown=_returned(part, self._name), headings=()) for part in parts.returned),
        ]
        for part, name in zip(parts.attachments, names, strict=True):
            pages += _under(name, self._attachment(part, name, depth))
        without_text = ", ".join(self._without_text)
        return LoadedDocument(title=subject or PurePath(self._name).stem, pages=pages, pages_without_text=without_text)

    def _text(self, texts: list[Message]) -> list[Page]:
        plain = [_plain(part, self._name) for part in texts if part.get_content_subtype() != "html"]
        html = [_html(part, self._name) for part in texts if part.get_content_subtype() == "html"]
        if any(_STRUCTURE.search(page.markdown) for page in html):
            return html
        written, shown = _characters(plain), _characters(html)
        if len(shown) <= FULLER * len(written):
            return plain
        # The plain text may say only that the mail is a web page, or also what the pictures of the HTML show.
        return html if written in shown else [*plain, *html]

    def _attachment(self, part: Message, name: str, depth: int) -> list[Page]:
        """Empty if it can't be read."""
        if part.get_content_type() == "message/rfc822" and part.is_multipart():
            return self._read(name, lambda: self._mail(attached_mail(part), name, depth))
        if part.get_content_type() in _OF_OUTLOOK or name.lower() == WINMAIL:
            self._without_text.append(name or WINMAIL)
            return []
        suffix = PurePath(name).suffix.lower()
        if suffix not in LOADABLE:
            self._without_text += [name] if suffix in _UNSUPPORTED else []
            return []
        with tempfile.TemporaryDirectory() as folder:
            # Loaders read from the disk; the sender's name is not used for the file.
            path = Path(folder, "attachment" + suffix)
            path.write_bytes(content_of(part))
            return self._file(RawFile(path, name, part.get_content_charset()), depth)

    def _file(self, file: RawFile, depth: int) -> list[Page]:
        """Empty if it can't be read, or if there are too many."""
        if self._left <= 0:
            self._without_text.append(file.name)
            return []
        self._left -= 1
        if is_archive(file.name):
            return self._read(file.name, lambda: self._members(file, depth))
        found = format_of(file.name)
        if found.kind == "eml":
            return self._read(file.name, lambda: self._mail(parse(file.content, file.name), file.name, depth))
        return self._read(file.name, lambda: self._pages(file, found.loader()))

    def _pages(self, file: RawFile, load: Load) -> list[Page]:
        loaded = load(file)
        if loaded.pages_without_text:
            self._without_text.append(f"{file.name} {loaded.pages_without_text}")
        return loaded.pages

    def _mail(self, mail: Message, name: str, depth: int) -> list[Page]:
        """Empty if it is too deep."""
        if depth > 0:
            return self.loaded(mail, depth - 1).pages
        self._without_text.append(name)
        return []

    def _members(self, file: RawFile, depth: int) -> list[Page]:
        unpacked = unpack(file.path, file.name, file.path.parent, UNPACKED_MB)
        for name, error in unpacked.refused:
            if isinstance(error, PasswordProtected) or PurePath(name).suffix.lower() in _UNSUPPORTED:
                self._without_text.append(name)
        return [
            page
            for member in unpacked.members
            for page in _under(member.name, self._file(RawFile(member.path, member.name), depth))
        ]

    def _read(self, name: str, load: Callable[[], list[Page]]) -> list[Page]:
        try:
            return load()
        except (DocumentError, MemoryError, RecursionError) as error:
            if isinstance(error, (NoText, PasswordProtected, NothingToLoad)):
                self._without_text.append(name)
            log.info("%s in %s is left out: %r", name, self._name, error)
            return []


def _parts(mail: Message) -> _Parts:
    parts = _Parts()
    for alternatives in _choices(mail):
        texts = [part for part in alternatives if _is_text(part)]
        others = [part for part in alternatives if not _is_text(part) and part.get_content_type() not in _SIGNATURES]
        parts.texts += [texts] if texts else []
        parts.invitations += [part for part in others if part.get_content_type() == CALENDAR]
        parts.reports += [part for part in others if part.get_content_type() in _REPORTS]
        parts.returned += [part for part in others if part.get_content_type() == _RETURNED and not file_name(part)]
        parts.attachments += [
            part for part in others if not _is_shown_as_invitation(part) and not _is_form_of(part, texts)
        ]
    return parts


def _choices(part: Message) -> Iterator[list[Message]]:
    """The parts in order; parts with the same content in several forms are together."""
    if part.get_content_type() == "multipart/alternative" or part.get_content_maintype() != "multipart":
        yield list(leaves(part))
    elif part.is_multipart():
        for inner in parts_of(part):
            yield from _choices(inner)


def _is_text(part: Message) -> bool:
    # Some gateways give the text a name, too.
    is_file = PurePath(file_name(part)).suffix.lower() in BY_SUFFIX
    is_attachment = part.get_content_disposition() == "attachment" or is_file
    return part.get_content_type() in ("text/plain", "text/html") and not is_attachment


def _is_shown_as_invitation(part: Message) -> bool:
    return part.get_content_type() == CALENDAR and part.get_content_disposition() != "attachment"


def _headers(mail: Message, *labels: str) -> list[str]:
    return [f"{label}: {value}" for label in labels if (value := header(mail, label))]


def _returned(part: Message, name: str) -> str:
    """Empty if it can't be read."""
    try:
        return "\n".join(_headers(parse(content_of(part), name), *_SHOWN, "Subject"))
    except Unreadable:
        return ""


def _fields(report: Message) -> str:
    """Of all groups: those of the report, and those of each recipient (RFC 3464)."""
    return "\n\n".join(
        "\n".join(f"{name}: {header(group, name)}" for name in group) for group in parts_of(report) if group.keys()
    )


def _name(part: Message) -> str:
    """Some scanners and gateways send files without a name or a suffix: their type tells what they are."""
    kind = part.get_content_type()
    if kind == "message/rfc822" and part.is_multipart() and (subject := header(attached_mail(part), "Subject")):
        return subject
    name = file_name(part)
    if PurePath(name).suffix or kind not in BY_MEDIA_TYPE:
        return name
    return (name or "attachment") + BY_MEDIA_TYPE[kind].media_types[kind]


def _is_form_of(part: Message, texts: list[Message]) -> bool:
    """Whether the part is one more form of the text, such as Markdown."""
    return bool(texts) and not file_name(part) and part.get_content_type() in BY_MEDIA_TYPE


def _html(part: Message, name: str) -> Page:
    return Page(markdown=body_markdown(parse_html(text_of(part, name)).root))


def _characters(pages: list[Page]) -> str:
    return "".join("".join(page.markdown.split()) for page in pages)


def _plain(part: Message, name: str) -> Page:
    text = text_of(part, name)
    if str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text, is_marked=str(part.get_param("delsp", "")).lower() == "yes")
    return Page(markdown=text, headings=())


def _unflowed(text: str, is_marked: bool) -> str:
    """Each paragraph on one line (RFC 3676): a space at the end means that a line continues. `is_marked`: that
    space is deleted.
    """
    lines: list[str] = []
    goes_on = False
    for line in text.split("\n"):
        body = line.lstrip(">")
        quoted, body = line[: len(line) - len(body)], body.removeprefix(" ")
        if goes_on and lines[-1][: len(lines[-1]) - len(lines[-1].lstrip(">"))] == quoted:
            lines[-1] = (lines[-1][:-1] if is_marked else lines[-1]) + body
        else:
            lines.append(f"{quoted} {body}" if quoted else body)
        goes_on = body.endswith(" ") and body != "-- "
    return "\n".join(lines)


def _under(title: str, pages: list[Page]) -> list[Page]:
    """The pages as one chapter of this title: each heading a level lower."""
    out = []
    for number, page in enumerate(pages):
        above = 0 if number else 2
        headings = [
            Heading(line=line + above, level=min(level + 1, 6), text=text)
            for line, (_, level, text) in enumerate(page.lines())
            if level
        ]
        if above:
            headings.insert(0, Heading(line=0, level=1, text=title))
        markdown = f"{title}\n\n{page.markdown}" if above else page.markdown
        out.append(Page(markdown=markdown, number=page.number, headings=tuple(headings)))
    return out

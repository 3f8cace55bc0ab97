"""Unpacks a zip into its files, each a separate document.

Names in an archive are only read: each unpacked file gets a name of ours, so none can be written elsewhere. Sizes are
counted while unpacking, whatever the archive says. Only zip: not tar, 7z or RAR.
"""

import errno
import logging
import lzma
import re
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from index_store.base.errors import (
    ArchiveTooLarge,
    DocumentError,
    NestedTooDeeply,
    NothingToLoad,
    PackedTooTightly,
    PasswordProtected,
    TooLarge,
    TooManyMembers,
    UnknownKind,
    Unreadable,
    UnsafeMember,
    WrongContent,
)
from index_store.parsing.loaders.content import content_kind, unreadable
from index_store.parsing.loaders.formats import LOADABLE, format_of, is_archive, is_left_out
from index_store.parsing.loaders.text.decode import japanese
from index_store.parsing.loaders.text.western import is_western

log = logging.getLogger(__name__)

MEMBERS = 10_000
"""files in an archive and in the archives inside it"""
TOTAL_MB = 2048
"""unpacked, in total"""
RATIO = 200
"""limit for a file's unpacked size, as a multiple of its packed size; logs and tables have 50, a bomb of zeros 1000"""
RATIO_FROM_MB = 50
"""unpacked; below it, the ratio does not matter"""
DEPTH = 2
"""archives inside archives"""

_MEGABYTE = 1024 * 1024
_BLOCK = 256 * 1024
"""bytes that are unpacked at a time"""

_DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, struct.error, OSError, ValueError,
    OverflowError, RuntimeError,
)  # fmt: skip
"""zipfile's errors for a damaged archive, or for a packing method that it does not know"""

_LEADS_ELSEWHERE = re.compile(r"^/|^[a-z]:|(^|/)\.\.(/|$)|[\x00-\x1f\x7f]", re.I)
_OTHER_FORMATS = {"[Content_Types].xml": "Office", "META-INF/container.xml": "EPUB", "META-INF/manifest.xml": "ODF"}

_FULL_WIDTH = re.compile(r"[\x00-\x7f\u3000-\u303f\uff01-\uff5e]+")
"""ASCII, and its full-width forms with the brackets and stops of Japanese"""

_ENCRYPTED = 0x1
_UTF8_NAME = 0x800
"""bits of a member's flags (APPNOTE 4.4.4)"""
_UNICODE_PATH = 0x7075
"""extra field that holds the name in UTF-8 (APPNOTE 4.6.9)"""


@dataclass(frozen=True)
class Member:
    name: str
    """with its folders and the archives that contain it, separated by /"""
    path: Path


@dataclass
class Unpacked:
    members: list[Member] = field(default_factory=list)
    refused: list[tuple[str, DocumentError]] = field(default_factory=list)
    """members that can't be loaded, with the error"""


def unpack(path: Path, name: str, folder: Path, total_mb: int | None = None) -> Unpacked:
    """Writes the members into `folder`, under names that say nothing.

    Raises DocumentError where the archive as a whole is refused; `folder` then holds none of it.
    """
    work = Path(tempfile.mkdtemp(prefix="archive-", dir=folder))
    try:
        unpacked = _Unpacker(name, work, total_mb or TOTAL_MB).unpacked(path)
        if not unpacked.members:
            _refuse_whole(name, unpacked)
    except BaseException:
        shutil.rmtree(work)
        raise
    return unpacked


def _refuse_whole(name: str, unpacked: Unpacked) -> None:
    """If all members were refused for the same reason, refuses the archive instead: one sentence says more."""
    errors = [error for _, error in unpacked.refused]
    if errors and all(isinstance(error, PasswordProtected) for error in errors):
        raise PasswordProtected(name=name)
    if all(isinstance(error, UnknownKind) for error in errors):
        raise NothingToLoad(name=name, known=" ".join(LOADABLE))


class _Unpacker:
    def __init__(self, name: str, folder: Path, total_mb: int) -> None:
        self._name = name
        self._folder = folder
        self._total_mb = total_mb
        self._written = 0
        """bytes, in total"""
        self._count = 0
        self._result = Unpacked()

    def unpacked(self, path: Path) -> Unpacked:
        self._open(path, self._name, prefix="", depth=0)
        return self._result

    def _open(self, path: Path, name: str, prefix: str, depth: int) -> None:
        with path.open("rb") as stream:
            start = stream.read(4096)
        kind = content_kind(start)
        if kind and not kind.startswith("ZIP"):
            raise WrongContent(name=name, content=kind)
        try:
            archive = zipfile.ZipFile(path)
        except _DAMAGED as error:
            raise unreadable(name, start) from error
        with archive:
            infos = archive.infolist()
            other = next((_OTHER_FORMATS[info.filename] for info in infos if info.filename in _OTHER_FORMATS), None)
            if other:
                raise WrongContent(name=name, content=other)
            for info, inner in _named(infos).items():
                self._take(archive, infos[info], prefix + inner, depth)

    def _take(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, depth: int) -> None:
        self._count += 1
        if self._count > MEMBERS:
            raise TooManyMembers(name=self._name, limit=f"{MEMBERS:,}")
        try:
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG) or _LEADS_ELSEWHERE.search(name):
                raise UnsafeMember(name=name)
            if not is_archive(name):
                format_of(name)
            elif depth >= DEPTH:
                raise NestedTooDeeply(name=name)
            if info.flag_bits & _ENCRYPTED:
                raise PasswordProtected(name=name)
            path = self._folder / f"{self._count}{PurePosixPath(name).suffix.lower()}"
            self._write(archive, info, name, path)
            if is_archive(name):
                self._open(path, name, name + "/", depth + 1)
                path.unlink()
            else:
                self._result.members.append(Member(name, path))
        except (ArchiveTooLarge, TooManyMembers):
            raise
        except DocumentError as error:
            self._result.refused.append((name, error))

    def _write(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, path: Path) -> None:
        try:
            with path.open("wb", buffering=0) as out, closing(_blocks(archive, info, name)) as blocks:
                self._copy(blocks, info.compress_size, name, out)
        except DocumentError:
            path.unlink()
            raise

    def _copy(self, blocks: Iterable[bytes], packed: int, name: str, out: BinaryIO) -> None:
        size = 0
        for block in blocks:
            self._written += len(block)
            if self._written > self._total_mb * _MEGABYTE:
                raise ArchiveTooLarge(name=self._name, limit=f"{self._total_mb:,}")
            if size + len(block) > max(RATIO * packed, RATIO_FROM_MB * _MEGABYTE):
                raise PackedTooTightly(name=name, ratio=RATIO)
            try:
                out.write(block)
            except OSError as error:
                # The parser's process may only write files up to MAX_FILE_MB.
                if error.errno == errno.EFBIG:
                    raise TooLarge(name=name, limit=round(size / _MEGABYTE)) from error
                raise
            size += len(block)


def _blocks(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Generator[bytes, None, None]:
    """Raises Unreadable."""
    try:
        with archive.open(info) as stream:
            while block := stream.read(_BLOCK):
                yield block
    except _DAMAGED as error:
        log.info("%s can't be unpacked: %s", name, error)
        raise Unreadable(name=name) from error


def _named(infos: list[zipfile.ZipInfo]) -> dict[int, str]:
    """The members that are a person's files, with their names. Of two with one name, the last counts, as in unzip."""
    names = {name: at for at, name in enumerate(_names(infos)) if not name.endswith("/") and not is_left_out(name)}
    return {at: name for name, at in sorted(names.items(), key=lambda pair: pair[1])}


def _names(infos: list[zipfile.ZipInfo]) -> list[str]:
    # zipfile reads names without a UTF-8 mark as cp437. The packing program used its own system's encoding.
    raw = [None if info.flag_bits & _UTF8_NAME else info.orig_filename.encode("cp437", "replace") for info in infos]
    unmarked = _decoded([name for name in raw if name is not None])
    names = []
    for info in infos:
        name = info.orig_filename if info.flag_bits & _UTF8_NAME else next(unmarked)
        name = _unicode_path(info.extra) or name
        names.append(unicodedata.normalize("NFC", name.replace("\\", "/")).removeprefix("./"))
    return names


def _decoded(names: list[bytes]) -> Iterator[str]:
    """All names have one encoding, which is easier to find with more names."""
    joined = b"\n".join(name.replace(b"\n", b"\r") for name in names)
    try:
        text = joined.decode("utf-8")
    except UnicodeDecodeError:
        text = japanese(joined, "cp437") or _with_full_width(joined) or joined.decode("cp437")
    return iter(text.split("\n"))


def _with_full_width(names: bytes) -> str | None:
    """The text, if in Shift_JIS all outside ASCII is full-width, as in "a～b.txt": too little for `japanese`."""
    try:
        text = names.decode("cp932")
    except UnicodeDecodeError:
        return None
    return text if _FULL_WIDTH.fullmatch(text) and not is_western(names, "cp932", "cp437") else None


def _unicode_path(extra: bytes) -> str | None:
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == _UNICODE_PATH and size > 5:
            # The name comes after a version and a checksum.
            return extra[9 : 4 + size].decode("utf-8", "ignore")
        extra = extra[4 + size :]
    return None

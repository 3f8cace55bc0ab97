"""Originals in S3, or in a service with its protocol: by s3fs, with a time limit for each call.

A file is there complete or not at all. It is first uploaded under a temporary name, so that no change of the catalogue
waits for it; then the service copies it. Its digest is in its metadata.
"""

import hashlib
import io
import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import aiohttp
from botocore import exceptions as boto
from fsspec.asyn import sync
from s3fs import S3FileSystem
from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import (
    BucketMissing,
    OriginalsAway,
    OriginalsError,
    OriginalsFailed,
    OriginalsRefused,
    PlainError,
)
from index_store.base.services.service_address import host_of
from index_store.base.settings.settings import MEGABYTE
from index_store.library.originals.backend import StagedFile
from index_store.library.originals.folder import MARK, digest_of
from index_store.library.originals.scratch import STAGED_SECONDS, STAGING, Scratch

CONNECT = 5.0
"""seconds after which a service counts as away"""

SILENCE = 10.0
"""seconds in which a part of the answer must come"""

TRIES = 3

CALL = 30.0
"""seconds that a call may take, including its retries"""

TRANSFER = 600.0
"""the same for a call that uploads or downloads a file"""

PART = 8 * MEGABYTE
"""bytes per request of an upload, a few of which are in memory; larger files are sent in parts"""

BLOCK = MEGABYTE
"""bytes per request when a part of a file is read"""

CHECK_SECONDS = 1.0
"""seconds between checks whether the service is back"""

LOOK_BEHIND = 60.0
"""seconds at most between tries to finish unfinished changes, while the service can be reached but they fail; and
between checks that fail on this machine"""

DIGEST = "sha256"
"""its name in a file's metadata"""

_KEYS = (boto.NoCredentialsError, boto.PartialCredentialsError, boto.CredentialRetrievalError, boto.ProfileNotFound)
_FAULTS = (OSError, boto.BotoCoreError, boto.ClientError, aiohttp.ClientError)
"""the errors that s3fs raises"""

log = logging.getLogger(__name__)


class Bucket(NamedTuple):
    """The place in S3 and how to reach it: the values of ORIGINALS_URL and of the AWS variables."""

    name: str
    prefix: str
    """without slashes around it; may be empty"""
    endpoint_url: str | None = None
    region: str | None = None
    key: str | None = None
    secret: str | None = None
    token: str | None = None
    """if all three are None, the machine's own credentials are used, such as a role"""


class S3:
    """See OriginalsBackend. The service may be away when this is made."""

    def __init__(self, bucket: Bucket, scratch: Path, *, is_alone: bool) -> None:
        """`scratch`: a folder on this machine for files that are read."""
        self._bucket = bucket.name
        self._root = "/".join(filter(None, (bucket.name, bucket.prefix)))
        self._host = host_of(bucket.endpoint_url or "https://s3.amazonaws.com")
        self._is_alone = is_alone
        self._scratch_folder = scratch
        self._staging = f"{STAGING}-{uuid.uuid4().hex}"
        self._fs = S3FileSystem(
            key=bucket.key, secret=bucket.secret, token=bucket.token, endpoint_url=bucket.endpoint_url,
            client_kwargs={"region_name": bucket.region} if bucket.region else {},
            config_kwargs={
                "connect_timeout": CONNECT, "read_timeout": SILENCE,
                "retries": {"total_max_attempts": TRIES, "mode": "standard"},
            },
            use_listings_cache=False, skip_instance_cache=True,
        )  # fmt: skip
        self._fs.retries = TRIES
        self.trouble: PlainError | None = None
        self._look = threading.Event()
        self._stopped = threading.Event()
        self._watching: threading.Thread | None = None

    @property
    def place(self) -> str:
        return f"s3://{self._root} ({self._host})"

    def begin(self) -> None:
        self._scratch = Scratch(self._scratch_folder, is_alone=self._is_alone)

    def close(self) -> None:
        self.stop_watching()
        self._scratch.close()

    # Whether it can be reached

    def watch(self, on_return: Callable[[], object]) -> None:
        self._watching = threading.Thread(target=self._watch, args=(on_return,), name="watching S3", daemon=True)
        self._watching.start()

    def stop_watching(self) -> None:
        self._stopped.set()
        self._look.set()
        if self._watching:
            self._watching.join()

    def _watch(self, on_return: Callable[[], object]) -> None:
        if self.trouble:
            self._look.set()
        pause = CHECK_SECONDS
        while True:
            self._look.wait()
            if self._stopped.wait(pause):
                return
            try:
                self._ask("cat_file", self._at(MARK), may_be_away=True)
            except FileNotFoundError:
                pass  # the service answers
            except OriginalsError:
                continue
            except OSError as error:  # of this machine, such as too many open files
                log.warning("Whether the originals can be reached can't be checked: %s", error)
                pause = min(2 * pause, LOOK_BEHIND)
                continue
            self._look.clear()
            self.trouble = None
            try:
                on_return()
                pause = CHECK_SECONDS
            except (PlainError, OSError, SQLAlchemyError) as error:
                log.warning("Unfinished changes can't be finished yet: %s", error)
                pause = min(2 * pause, LOOK_BEHIND)
                self._look.set()

    def _ask(
        self, verb: str, *values: Any, may_be_away: bool = False, seconds: float | None = None, **options: Any
    ) -> Any:
        """Calls a method of fsspec. Raises OriginalsError; FileNotFoundError; OSError of this machine.

        `may_be_away`: tries even while the service is away; other calls fail at once then.
        """
        trouble = self.trouble  # read once: the thread that watches may clear it at any time
        if isinstance(trouble, OriginalsAway) and self._watching and not may_be_away:
            raise type(trouble)(**trouble.details)
        try:
            # fsspec's coroutine has the same name with an underscore; unlike the method, it takes a time limit.
            return sync(self._fs.loop, getattr(self._fs, f"_{verb}"), *values, timeout=seconds or CALL, **options)
        except _FAULTS as error:
            told = self._as_plain(error)
            if isinstance(told, OriginalsError):
                self._note(told)
                raise told from None  # the cause may quote headers, which have a key's name
            raise

    def _note(self, error: OriginalsError) -> None:
        if self.trouble is None:
            log.warning("%s", error)
        self.trouble = error
        self._look.set()

    def _as_plain(self, error: Exception) -> Exception:
        cause = error if isinstance(error, boto.ClientError) else error.__cause__
        code = cause.response["Error"].get("Code", "?") if isinstance(cause, boto.ClientError) else None
        match error:
            case _ if code == "NoSuchBucket":
                return BucketMissing(host=self._host, bucket=self._bucket)
            case FileNotFoundError():
                return error
            case PermissionError() if code:
                return OriginalsRefused(host=self._host, bucket=self._bucket)
            case _ if isinstance(error, _KEYS):
                return OriginalsRefused(host=self._host, bucket=self._bucket)
            case _ if code:
                log.warning("S3 at %s answered with %s", self._host, code)
                return OriginalsFailed(host=self._host, code=code)
            case TimeoutError() | boto.BotoCoreError() | aiohttp.ClientError() | ConnectionError():
                return OriginalsAway(host=self._host)
            case _:
                return error  # such as a full disk of this machine

    # Its files

    def owner(self) -> str | None:
        try:
            return cast(bytes, self._ask("cat_file", self._at(MARK))).decode()
        except FileNotFoundError:
            return None

    def mark(self, owner: str) -> None:
        self._ask("pipe_file", self._at(MARK), owner.encode())

    def is_marked(self) -> bool:
        return True

    def work_folder(self) -> AbstractContextManager[Path]:
        return self._scratch.work_folder()

    def stage(self, path: Path, *, move: bool) -> StagedFile:
        staged = StagedFile(f"{self._staging}/{uuid.uuid4().hex}", path.stat().st_size, digest_of(path))
        self._ask(
            "put_file", str(path), self._at(staged.name), chunksize=PART, max_concurrency=2,
            Metadata={DIGEST: staged.digest}, ContentType="application/octet-stream", seconds=TRANSFER,
        )  # fmt: skip
        # The caller deletes `path`: if the file is not kept now, it may be staged again.
        return staged

    def keep(self, staged: StagedFile, name: str) -> None:
        self.copy(staged.name, name)

    def drop(self, staged: StagedFile) -> None:
        self.delete([staged.name])

    def copy(self, name: str, new: str) -> None:
        self._ask("cp_file", self._at(name), self._at(new))

    def size(self, name: str) -> int | None:
        try:
            return int(self._ask("info", self._at(name))["size"])
        except FileNotFoundError:
            return None

    def digest(self, name: str) -> str:
        found = self._metadata(name).get(DIGEST)
        if found:
            return found
        # Another tool copied the file there, without metadata.
        hashed = hashlib.sha256()
        with self.open(name) as stream:
            while block := stream.read(BLOCK):
                hashed.update(block)
        return hashed.hexdigest()

    def _metadata(self, name: str) -> Mapping[str, str]:
        return cast(Mapping[str, str], self._ask("metadata", self._at(name)))

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        path = self._scratch.new()
        try:
            self._ask("get_file", self._at(name), str(path), max_concurrency=1, seconds=TRANSFER)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def open(self, name: str) -> BinaryIO:
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(name)
        return cast(BinaryIO, io.BufferedReader(_Stream(self, name, size), BLOCK))

    def part(self, name: str, start: int, end: int) -> bytes:
        """Raises FileNotFoundError."""
        return cast(bytes, self._ask("cat_file", self._at(name), start=start, end=end))

    def delete(self, names: Iterable[str]) -> None:
        paths = [self._at(name) for name in names]
        for first in range(0, len(paths), 1000):  # the limit of one call
            self._ask("bulk_delete", paths[first : first + 1000])

    def names(self) -> Iterator[str]:
        for name, _ in self._all():
            if not name.startswith(STAGING) and name.count("/") == 1:
                yield name

    def sweep_staged(self) -> None:
        old = datetime.now(UTC) - timedelta(seconds=STAGED_SECONDS)
        self.delete(
            name
            for name, written in self._all()
            if name.startswith(f"{STAGING}-")
            and not name.startswith(self._staging)
            and (self._is_alone or written < old)
        )

    def _all(self) -> Iterator[tuple[str, datetime]]:
        """Each name and the time when the file was written."""
        try:
            found = self._ask("find", self._root, detail=True, seconds=TRANSFER)
        except FileNotFoundError:
            return
        for path, info in found.items():
            yield path.removeprefix(f"{self._root}/"), info["LastModified"]

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


class _Stream(io.RawIOBase):
    """A file's content, one part per call."""

    def __init__(self, s3: S3, name: str, size: int) -> None:
        super().__init__()
        self._s3 = s3
        self._name = name
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        before = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(before + offset, 0)
        return self._position

    def readinto(self, buffer: Any) -> int:
        end = min(self._position + len(buffer), self._size)
        if end <= self._position:
            return 0
        part = self._s3.part(self._name, self._position, end)
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)

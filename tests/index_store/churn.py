"""A process that changes a store without a pause until it is killed: `python -m tests.index_store.churn FOLDER SEED`.

It writes JSON lines to standard output: what it is about to do, and what the store has acknowledged. The content of a
document depends only on its source and its version. So these lines are enough to know what must be in the store.
"""

import hashlib
import json
import random
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from index_store.base import errors
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource, keep_upload
from index_store.store.index_store import IndexStore
from index_store.store.user_ingestion import UserIngestion

INDEXES = ("規程", "manuals")
FILES = tuple(f"{name}.{kind}" for name in ("travel", "旅費 ①", "leave", "vpn") for kind in ("md", "txt", "html"))
ARCHIVES = {"old.zip": ("a.md", "b/休暇.txt", "c.html"), "new.zip": ("d.md", "e.txt")}
AT_ONCE = 3
"""jobs at the same time"""
PATIENCE = 20
"""seconds; nothing here takes so long"""


def mark(source: str, version: int) -> str:
    """A sentence that only this version has."""
    words = hashlib.sha256(f"{source} {version}".encode()).hexdigest()
    return f"「{source}」の第 {version:03} 版です: {words[:32]} {words[32:]}"


def content(source: str, version: int) -> str:
    """A text of one to about forty chunks."""
    some = random.Random(f"{source} {version}")
    text = [f"# {source}", "## Mark", mark(source, version)]
    for number in range(some.choice((0, 1, 4, 40))):
        text.append(f"## Part {number}\n\n" + f"第 {number} 節、{some.random()} の話です。" * some.randint(1, 12))
    return "\n\n".join(text)


def members(archive: str, version: int) -> list[str]:
    """The members of an archive. Every second version has one less."""
    every = ARCHIVES[archive]
    return [f"{archive}/{name}" for name in every[: len(every) - version % 2]]


def as_bytes(source: str, version: int) -> bytes:
    text = content(source, version)
    if source.endswith(".html"):
        lines = (f"<h2>{line[3:]}</h2>" if line.startswith("## ") else f"<p>{line}</p>" for line in text.split("\n\n"))
        text = f"<meta charset=utf-8><title>{source}</title>" + "".join(lines)
    return text.encode()


@dataclass
class Churn:
    store: IndexStore
    folder: Path
    random: random.Random
    version: int
    busy: set[tuple[str, str]] = field(default_factory=set)
    """(index, source) of everything that a job is working on"""
    jobs: dict[int, UserIngestion] = field(default_factory=dict)
    count: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, **fields: object) -> None:
        with self.lock:
            sys.stdout.write(json.dumps(fields) + "\n")
            sys.stdout.flush()

    def run(self, steps: Iterator[str]) -> None:
        for step in steps:
            while len(self.jobs) >= AT_ONCE:
                time.sleep(0.005)
            getattr(self, step)(self.random.choice(INDEXES))

    def resume(self) -> None:
        """Continues the jobs of the last process. Nothing else changes their sources, so the last version is known."""
        for job in self.store.resume():
            self.until_done(job, {(job.index, source.source.partition("/")[0]) for source in job._job.order.sources})

    def until_done(self, job: UserIngestion, taken: set[tuple[str, str]]) -> None:
        self.busy |= taken

        def wait() -> None:
            job.wait()
            self.busy -= taken

        threading.Thread(target=wait, daemon=True).start()

    # Steps

    def add(self, index: str) -> None:
        chosen = self.free(index, self.random.sample(FILES, self.random.randint(1, 6)))
        self.ingest("add", index, {source: self.next_version() for source in chosen})

    def add_again(self, index: str) -> None:
        there = {each.source for each in self.store.documents() if each.index == index}
        chosen = self.free(index, [source for source in FILES if source in there])[:4]
        self.ingest("add", index, dict.fromkeys(chosen, self.version))

    def archive(self, index: str) -> None:
        for archive in self.free(index, [self.random.choice(list(ARCHIVES))]):
            self.ingest("archive", index, {archive: self.next_version()})

    def remove(self, index: str) -> None:
        there = [each for each in self.store.documents() if each.index == index]
        chosen = [each for each in self.random.sample(there, min(len(there), 4)) if self.free(index, [each.source])]
        if chosen:
            with self.doing("remove", index, {each.source: None for each in chosen}):
                self.store.remove_documents([each.id for each in chosen])

    def reindex(self, index: str) -> None:
        if self.free(index, [index]) and not any(taken == index for taken, _ in tuple(self.busy)) and self.has(index):
            self.follow("reindex", index, {}, lambda: self.store.reindex(index))

    def drop(self, index: str) -> None:
        if self.has(index) and self.random.random() < 0.3:
            with self.doing("drop", index, {}):
                self.store.delete_index(index)
                # The results of its jobs are reported before its deletion.
                while any(taken == index for taken, _ in tuple(self.busy)):
                    time.sleep(0.005)

    def cancel(self, _: str) -> None:
        for job in list(self.jobs.values())[:1]:
            job.cancel()

    # How they are reported

    def doing(self, what: str, index: str, versions: dict[str, int | None]) -> "_Doing":
        self.count += 1
        return _Doing(self, self.count, what, index, versions)

    def ingest(self, what: str, index: str, versions: dict[str, int]) -> None:
        if versions:
            self.follow(what, index, versions, lambda: self.store.ingest(index, list(self.sources(versions))))

    def follow(self, what: str, index: str, versions: dict[str, int], begin) -> None:
        doing = self.doing(what, index, versions)
        doing.__enter__()
        taken = {(index, source) for source in versions or (index,)}
        self.busy |= taken
        job = begin()
        self.jobs[doing.number] = job

        def acknowledge() -> None:
            for added in job.as_completed():
                if added.status in (IngestStatus.READY, IngestStatus.UNCHANGED, IngestStatus.REMOVED):
                    self.say(number=doing.number, source=added.source, is_gone=added.status is IngestStatus.REMOVED)
                else:
                    self.say(number=doing.number, source=added.source, failed=added.error.en)
            if job.failure:
                self.say(number=doing.number, source=None, failed=str(job.failure))
            doing.end(is_cancelled=job.is_cancelled)
            self.busy -= taken
            del self.jobs[doing.number]

        threading.Thread(target=acknowledge, daemon=True).start()

    # What can be chosen

    def has(self, index: str) -> bool:
        return index in {each.name for each in self.store.indexes()}

    def free(self, index: str, sources: list[str]) -> list[str]:
        """The sources that no job of this process is working on. A member counts as part of its archive."""
        return [
            source for source in sources
            if not {(index, source), (index, source.partition("/")[0]), (index, index)} & self.busy
        ]  # fmt: skip

    def next_version(self) -> int:
        self.version += 1
        return self.version

    def sources(self, versions: dict[str, int]) -> Iterator[FileSource]:
        for source, version in versions.items():
            path = self.folder / f"{source}-{version}"
            if source in ARCHIVES:
                with zipfile.ZipFile(path, "w") as archive:
                    for member in members(source, version):
                        archive.writestr(member.partition("/")[2], as_bytes(member, version))
            else:
                path.write_bytes(as_bytes(source, version))
            if self.random.random() < 0.5:
                yield FileSource(path, source)
                continue
            with path.open("rb") as stream:
                yield keep_upload(self.folder / "data", source, stream)


@dataclass
class _Doing:
    churn: Churn
    number: int
    what: str
    index: str
    versions: dict[str, int | None]

    def __enter__(self) -> None:
        self.churn.say(number=self.number, doing=self.what, index=self.index, versions=self.versions)

    def __exit__(self, *_: object) -> None:
        self.end(is_cancelled=False)

    def end(self, *, is_cancelled: bool) -> None:
        self.churn.say(number=self.number, done=self.what, is_cancelled=is_cancelled)


def steps(chance: random.Random) -> Iterator[str]:
    usual = ["add"] * 6 + ["archive"] * 2 + ["remove"] * 4 + ["reindex"] * 2 + ["add_again", "drop", "cancel"]
    while True:
        yield chance.choice(usual)


def main(folder: Path, seed: str) -> None:
    chance = random.Random(seed)
    with IndexStore() as store:
        # Two processes never use the same version numbers.
        churn = Churn(store, folder, chance, version=int(seed.rpartition(".")[2]) * 1000)
        churn.say(number=0, doing="open")
        churn.resume()
        for index in store.indexes():
            try:
                store.search(index.name, "which model")
            except errors.EmbeddingModelMismatch:
                churn.reindex(index.name)
            except errors.EmptyIndex:
                pass
        churn.run(steps(chance))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

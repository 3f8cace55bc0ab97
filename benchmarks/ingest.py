"""The cost of adding documents compared with only embedding their texts, and of adding them again.

    python -m benchmarks.ingest [--data paragraphs.jsonl] [--sections 500] [--pages 200]

The same sections are added twice: one document each, and one document per article. Then the texts that the store
embedded are embedded once more with nothing else, in full batches: this cost can't be avoided. All parts are real:
files, parser processes, the embedded model, Chroma, SQL. Memory is that of this process, which has the store; parsers
have limits of their own.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, groupby, islice
from pathlib import Path

from benchmarks import crawl
from benchmarks.parts.child import serving
from benchmarks.parts.machine import Machine
from index_store.base.settings.settings import MEGABYTE, Settings
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embeddings import Embeddings, LanguageBias, Vectors
from pages import samples

MOST_ADDING = 1.15
"""most time, in multiples of embedding alone: the project's target, like the next two"""
MOST_AGAIN = 0.02
"""as a part of adding"""
MOST_MEMORY = 300
"""MB"""

LOOK = 0.02
"""seconds between two reads of the resident memory"""


@dataclass(frozen=True)
class Paragraph:
    title: str
    text: str


@dataclass
class Recorded:
    """An embedding model that keeps the texts that it embeds."""

    model: Embeddings
    texts: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.model.id

    @property
    def batch(self) -> int:
        return self.model.batch

    @property
    def language_bias(self) -> LanguageBias | None:
        return self.model.language_bias

    def load(self) -> None:
        self.model.load()

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self.model.passages(texts)

    def query(self, text: str) -> Vectors:
        return self.model.query(text)


@dataclass(frozen=True)
class Row:
    what: str
    measured: float
    most: float
    details: str

    def __str__(self) -> str:
        met = "met" if self.measured <= self.most else "missed"
        return f"| {self.what} | {self.measured:.3f} | {self.most:g} | {met} | {self.details} |"


def paragraphs_of(data: Path) -> Iterator[Paragraph]:
    """One paragraph per line, as JSON with `title` and `text`."""
    with data.open(encoding="utf-8") as lines:
        for line in lines:
            content = json.loads(line)
            yield Paragraph(content["title"], content["text"])


def made_up() -> Iterator[Paragraph]:
    """The sections of the sample handbook again and again, each one different."""
    handbook = [file.read_text(encoding="utf-8") for file in samples.documents() if file.suffix == ".md"]
    sections = [section for text in handbook for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]
    for number, section in enumerate(cycle(sections)):
        yield Paragraph(f"Handbook {number // 10}", f"No. {number}: {section}")


def a_document_each(paragraphs: Iterable[Paragraph]) -> list[str]:
    return [f"# {paragraph.title}\n\n{paragraph.text}\n" for paragraph in paragraphs]


def a_document_an_article(paragraphs: Iterable[Paragraph]) -> list[str]:
    documents = []
    for title, group in groupby(paragraphs, key=lambda paragraph: paragraph.title):
        sections = (f"## {title} {number}\n\n{each.text}\n" for number, each in enumerate(group, 1))
        documents.append(f"# {title}\n\n" + "\n".join(sections))
    return documents


def add(store: IndexStore, index: str, files: Sequence[Path], status: IngestStatus) -> float:
    """Returns seconds until all have this status. Raises RuntimeError if one fails."""
    begun = time.perf_counter()
    added = store.ingest(index, [FileSource(file) for file in files]).wait()
    seconds = time.perf_counter() - begun
    others = [each for each in added if each.status != status]
    if len(added) != len(files) or others:
        raise RuntimeError(f"{len(added)} of {len(files)} came, and these are not {status}: {others[:3]}")
    return seconds


def embed(model: Embeddings, texts: Sequence[str]) -> float:
    """Returns seconds. Runs in a thread that ends: the native library keeps threads for each thread that calls it, and
    so it does for the store's.
    """

    def work() -> float:
        begun = time.perf_counter()
        for i in range(0, len(texts), model.batch):
            model.passages(texts[i : i + model.batch])
        return time.perf_counter() - begun

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


@contextmanager
def watched_memory() -> Iterator[list[float]]:
    """A list with one number: in the end, by how many MB this process has grown at most."""
    first = resident()
    growth = [0.0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOK):
            growth[0] = max(growth[0], (resident() - first) / MEGABYTE)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield growth
    finally:
        done.set()
        watcher.join()


def resident() -> int:
    """Bytes; without /proc, the largest value so far."""
    import resource

    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(paragraphs: Sequence[Paragraph], rounds: int) -> Iterator[Row]:
    shapes = {
        "a document each": a_document_each(paragraphs),
        "a document an article": a_document_an_article(paragraphs),
    }
    with tempfile.TemporaryDirectory() as folder:
        model = Recorded(EmbeddedEmbeddings())
        settings = Settings(_env_file=None, data_dir=Path(folder) / "data")
        with IndexStore(settings, model) as store:
            empty = resident()
            # Weights, dictionary and parser are loaded once, so they do not belong to the cost of a batch.
            add(store, "warm", written(Path(folder) / "warm", ["# 起動\n\n最初の文書です。\n"]), IngestStatus.READY)
            loaded = f"{(resident() - empty) / MEGABYTE:.0f} MB before for what is loaded once"
            for shape, documents in shapes.items():
                files = written(Path(folder) / shape, documents)
                timed = []
                for number in range(rounds):
                    model.texts.clear()
                    with watched_memory() as growth:
                        adding = add(store, f"{shape} {number}", files, IngestStatus.READY)
                    again = add(store, f"{shape} {number}", files, IngestStatus.UNCHANGED)
                    timed.append((adding, embed(model.model, model.texts), again, growth[0]))
                adding, alone, again, grown = (statistics.median(each) for each in zip(*timed, strict=True))
                size = f"{len(documents)} documents, {len(model.texts)} chunks"
                yield Row(f"{shape}: adding to embedding alone", adding / alone, MOST_ADDING,
                          f"{adding:.2f} s to {alone:.2f} s; {size}")  # fmt: skip
                yield Row(f"{shape}: adding again to adding", again / adding, MOST_AGAIN, f"{again:.3f} s")
                yield Row(f"{shape}: growth of memory, MB", grown, MOST_MEMORY, f"of this process, {loaded}; {size}")


def written(folder: Path, documents: Sequence[str]) -> list[Path]:
    folder.mkdir()
    files = []
    for number, document in enumerate(documents):
        files.append(folder / f"{number}.md")
        files[-1].write_text(document, encoding="utf-8")
    return files


def crawling(pages: int, delay: float, at_once: int) -> Row:
    least = pages * delay / at_once
    with serving(crawl.serve, pages, delay) as url:
        seconds = crawl.crawl(url, pages, rate=1000, at_once=at_once)
    details = f"{seconds:.2f} s to {least:.2f} s; {pages} pages of {delay * 1000:g} ms, {at_once} at once"
    return Row("crawling to its least", seconds / least, crawl.MOST, details)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times adding documents, compared with only embedding their texts.")
    parser.add_argument(
        "--data", type=Path, help="paragraphs as JSON lines with title and text; else samples, repeated"
    )
    parser.add_argument("--sections", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=1, help="of which the medians are taken")
    parser.add_argument("--pages", type=int, default=200, help="of the site that is crawled")
    given = parser.parse_args(arguments)
    paragraphs = list(islice(paragraphs_of(given.data) if given.data else made_up(), given.sections))
    machine = Machine()
    print("| | measured | at most | | |\n|---|--:|--:|---|---|")
    for row in measure(paragraphs, given.rounds):
        print(row, flush=True)
    print(crawling(given.pages, delay=0.1, at_once=4))
    origin = f"of {given.data.name}" if given.data else "made up"
    print(f"\n{len(paragraphs)} sections, {origin}. Rounds: {given.rounds}. {machine}")


if __name__ == "__main__":
    main()

"""What Markdown of 20 million characters costs: with our own reader, and with markdown-it-py's block parser.

    python -m benchmarks.markdown_reading [--characters 20000000] [--folder DIR]

Each text is read in a process of its own with the limits for a file: PARSER_TIMEOUT seconds, and PARSER_MEMORY_MB above
the memory of libraries. Seconds are processor time. With `--folder`, it also counts the folder's Markdown files in
which the two find different headings. See docs/decisions/documents/markdown-reading.md.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from index_store.base.settings.settings import MEGABYTE, Settings
from index_store.parsing.chunking.blocks import blocks_of
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.text.md import load
from index_store.parsing.worker import limits

ROOT = Path(__file__).parents[1]

Headings = list[int]
"""levels of the headings, from 1"""


def here(path: Path) -> Headings:
    """Headings. Also reads the tables and code fences that a splitter must know."""
    (page,) = load(RawFile(path, path.name)).pages
    blocks_of(page.markdown)
    return [heading.level for heading in page.headings or ()]


def markdown_it(path: Path) -> Headings:
    return markdown_it_headings(path.read_text(encoding="utf-8"))


def markdown_it_headings(text: str) -> Headings:
    """With block rules only: text inside a line is not parsed."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    tokens = parser.parse(text)
    return [int(token.tag[1:]) for token in tokens if token.type == "heading_open" and token.level == 0]


READERS: dict[str, Callable[[Path], Headings]] = {"here": here, "markdown-it-py": markdown_it}


def samples() -> str:
    files = sorted((ROOT / "pages/samples/documents").glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
    return "\n\n".join(file.read_text(encoding="utf-8") for file in files)


TEXTS: dict[str, Callable[[], str]] = {
    "this repository's documents, again and again": samples,
    "a table of short rows": lambda: "| a | b | c |\n| --- | --- | --- |\n" + "| 1 | 2 | 3 |\n" * 100_000,
    "one word a paragraph": lambda: "word\n\n" * 100_000,
    "a list of short items": lambda: "- item\n" * 100_000,
    "lists within lists": lambda: ("- " * 50 + "x\n") * 1000,
    "quotations within quotations": lambda: (">" * 50 + " x\n") * 1000,
    "one paragraph of short lines": lambda: "a line\n" * 100_000,
    "link definitions that never end": lambda: "[a]: <b\n" * 100_000,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=20_000_000)
    parser.add_argument("--folder", type=Path, help="with Markdown files, to compare headings of")
    parser.add_argument("--first", type=int, default=len(TEXTS), help="texts, of all that there are")
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.read:
        _read(READERS[given.read[0]], Path(given.read[1]))
        return
    print("| text | here | markdown-it-py |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.md")
        for name, make in islice(TEXTS.items(), given.first):
            text = make()
            path.write_text((text * (given.characters // len(text) + 1))[: given.characters], encoding="utf-8")
            print(f"| {name} | {' | '.join(_measured(reader, path) for reader in READERS)} |", flush=True)
    if given.folder:
        files = sorted(given.folder.rglob("*.md"))
        others = [file for file in files if not _agree(file)]
        print(f"\nOther headings in {len(others)} of {len(files)} files.")


def _agree(path: Path) -> bool:
    """Whether both find the same headings in the text after the front matter, which is not Markdown."""
    (page,) = load(RawFile(path, path.name)).pages
    return here(path) == markdown_it_headings(page.markdown)


def _measured(reader: str, path: Path) -> str:
    seconds = Settings(_env_file=None).parser_timeout
    command = [sys.executable, "-m", "benchmarks.markdown_reading", "--read", reader, path]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"more than {seconds:g} s"
    return done.stdout.strip()


def _read(reader: Callable[[Path], Headings], path: Path) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".md") as small:
        small.write("# Title\n\nText\n")
        small.flush()
        reader(Path(small.name))
    megabytes = Settings(_env_file=None).parser_memory_mb
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits.limit(megabytes * MEGABYTE, 0)
    began = time.process_time()
    try:
        reader(path)
        is_whole = True
    except MemoryError:
        is_whole = False
    seconds = time.process_time() - began
    limits.lift()
    if not is_whole:
        print(f"more than {megabytes} MB, after {seconds:.0f} s")
        return
    print(f"{seconds:.1f} s, {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MB")


if __name__ == "__main__":
    main()

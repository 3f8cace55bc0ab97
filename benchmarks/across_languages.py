"""How often a search finds the section of the samples that answers a question in the other language, and, with --fit,
the axis on which texts of these languages differ.

    python -m benchmarks.across_languages
    python -m benchmarks.across_languages --fit DIR

The questions are in across_languages.toml. They are asked with and without the correction of
`index_store/vectors/embedded/language_bias.py`, of one index with samples in both languages.

--fit makes `language_axis.npy`, which that module reads, from two kinds of texts in both languages: DIR/qa/jsquad and
DIR/qa/squad (paragraphs.jsonl), and the guides of this project. It prints where these are on the axis, for the
thresholds of that module.
"""

import argparse
import json
import re
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np

from index_store.base.settings.settings import Settings
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded import language_bias
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from pages import samples

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
QUESTIONS = HERE / "across_languages.toml"
RANKS = (1, 4, 10)
MODES = ("vector", "hybrid")

KINDS = {"en": (Path("qa/squad"), "guide.md"), "ja": (Path("qa/jsquad"), "guide.ja.md")}
"""by language: two kinds of text"""
MOST = 120
"""paragraphs of a kind"""
SHORTEST, LONGEST = 60, 400
"""characters of a paragraph that is fitted"""


def recall(store: IndexStore, questions: dict[str, str], mode: str) -> list[float]:
    """For each of RANKS: the share of the questions whose section is among so many."""
    ranks = []
    for question, heading in questions.items():
        hits = store.search(samples.INDEX, question, mode=mode, unit="section", k=RANKS[-1])
        ranks.append(next((hit.rank for hit in hits if hit.headings and hit.headings[0] == heading), RANKS[-1] + 1))
    return [float(np.mean([rank <= most for rank in ranks])) for most in RANKS]


def measure(folder: Path) -> None:
    print("| question | search | correction | @1 | @4 | @10 |\n|---|---|---|---|---|---|")
    with IndexStore(Settings(_env_file=None, data_dir=folder), EmbeddedEmbeddings()) as store:
        added = store.ingest(samples.INDEX, [FileSource(each) for each in samples.documents()]).wait()
        if failed := [each for each in added if each.error]:
            raise RuntimeError(f"{failed[0].source}: {failed[0].error}")
        for language, questions in tomllib.loads(QUESTIONS.read_text(encoding="utf-8")).items():
            for mode in MODES:
                for name, bias in (("without", None), ("with", EmbeddedEmbeddings.language_bias)):
                    with patch.object(EmbeddedEmbeddings, "language_bias", bias):
                        shares = recall(store, questions, mode)
                    figures = " | ".join(f"{share:.2f}" for share in shares)
                    print(f"| {language}, {len(questions)} | {mode} | {name} | {figures} |", flush=True)


def fit(data: Path) -> None:
    model = EmbeddedEmbeddings()
    vectors = {
        language: [model.passages(each) for each in (paragraphs(data / folder), prose(DOCS / guide))]
        for language, (folder, guide) in KINDS.items()
    }
    middle = {language: np.mean([each.mean(axis=0) for each in kinds], axis=0) for language, kinds in vectors.items()}
    axis = (middle["en"] - middle["ja"]) / np.linalg.norm(middle["en"] - middle["ja"])
    np.save(language_bias.AXIS, axis.astype(np.float32))
    for language, kinds in vectors.items():
        places = np.concatenate(kinds) @ axis
        print(f"{language}: from {places.min():.3f} to {places.max():.3f} on the axis")


def paragraphs(folder: Path) -> list[str]:
    lines = (folder / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"][:LONGEST] for line in lines[:MOST]]


def prose(guide: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    blocks = (block.strip() for block in text.split("\n\n"))
    return [each[:LONGEST] for each in blocks if len(each) >= SHORTEST and not each.startswith(("|", "!", "<"))][:MOST]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", type=Path, metavar="DIR", help="make language_axis.npy anew, from the texts there")
    options = parser.parse_args(arguments)
    if options.fit:
        fit(options.fit)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))


if __name__ == "__main__":
    main()

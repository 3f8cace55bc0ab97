import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.parts import clustered, recombined
from benchmarks.parts.clustered import Clustered
from benchmarks.scale import __main__ as scale
from benchmarks.scale.asking import Asked, held
from benchmarks.scale.filled import INDEX, fill, serving
from benchmarks.scale.made import CHUNKS, MadeLibrary
from benchmarks.search_speed import SEARCHES
from index_store.full_text.analysis import Analyzer
from index_store.full_text.bm25 import ChunkTerms
from index_store.store.index_store import IndexStore
from tests.benchmarks.conftest import Printed


@pytest.fixture(scope="module")
def texts() -> recombined.Texts:
    return recombined.made_up(5)


def test_a_made_document_has_the_terms_that_the_store_would_have_given_it(texts):
    document = MadeLibrary(texts, 40, seed=3).document(0)
    chunks = [(section, chunk) for section in document.sections for chunk in section.chunks]
    for (section, chunk), made in zip(chunks, document.terms, strict=True):
        text = section.text[chunk.start : chunk.end]
        real = ChunkTerms.of(Analyzer(), made.chunk_id, document.title, chunk.headings, text)
        assert [sorted(column.split()) for column in made.columns] == [sorted(each.split()) for each in real.columns]


@pytest.fixture
def few_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the vectors of all subjects takes seconds."""
    monkeypatch.setattr(Clustered, "ARTICLES", 20)
    monkeypatch.setattr(Clustered, "SUBJECTS", 400)
    monkeypatch.setattr(clustered, "_centres", cache(clustered._centres.__wrapped__))


@pytest.mark.usefixtures("few_subjects")
def test_made_documents_are_the_same_by_their_seed_whatever_was_made_before(texts):
    one, other = MadeLibrary(texts, 1000, seed=3), MadeLibrary(texts, 1000, seed=3)
    one.document(0)
    assert one.document(2) == other.document(2)
    assert np.array_equal(one.vectors(4), other.vectors(4))
    assert MadeLibrary(texts, 1000, seed=4).document(2) != other.document(2)


@pytest.mark.usefixtures("few_subjects")
def test_the_last_document_has_what_is_left(texts):
    made = MadeLibrary(texts, 2 * CHUNKS + 7, seed=1)
    assert [len(made.document(number).terms) for number in range(len(made))] == [CHUNKS, CHUNKS, 7]
    assert [len(made.vectors(number)) for number in range(len(made))] == [CHUNKS, CHUNKS, 7]


def test_the_more_chunks_the_more_words_there_are(texts):
    made = MadeLibrary(texts, 4 * CHUNKS, seed=1)
    words = [{word for chunk in made.document(number).terms for word in chunk.text.split()} for number in range(4)]
    known = set.union(*words[:3])
    assert 50 < len(words[3] - known) < CHUNKS * 2


@pytest.mark.usefixtures("few_subjects")
def test_drawn_vectors_lie_as_those_of_texts_do():
    model = Clustered()
    drawn, texts = model.drawn(300, np.random.default_rng(1)), model.passages([f"passage {n}" for n in range(300)])
    assert np.allclose(np.linalg.norm(drawn, axis=1), 1, atol=1e-5)
    for cosines in (drawn @ drawn.T, drawn @ texts.T):
        assert abs(np.median(cosines) - 0.77) < 0.02


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that all users can open: Postgres does not run as root."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.soak  # a whole run of the benchmark
def test_a_filled_store_is_whole_and_an_interrupted_filling_goes_on(texts, open_to_all):
    made = MadeLibrary(texts, 300, seed=1)
    with serving(open_to_all / "store") as store:
        fill(store, MadeLibrary(texts, 300, seed=1))
        with IndexStore(store.settings, Clustered()) as opened:
            assert opened.check() == []
            [index] = opened.indexes()
            assert (index.name, index.documents, index.chunks) == (INDEX, 2, 300)
            part = next(word for word in made.document(1).terms[0].text.split() if re.fullmatch(r"p\d+x", word))
            assert part in opened.search(INDEX, part, mode="keyword", k=1)[0].text.lower()
    with serving(open_to_all / "store") as store:  # existing documents are not added twice
        fill(store, made)
        with IndexStore(store.settings, Clustered()) as opened:
            assert opened.check() == []


@pytest.mark.soak
def test_a_small_store_is_filled_searched_and_added_to(printed: Printed):
    out = printed(scale, "fill", "search", "add", "--chunks", 200, 300, "--questions", 3, "--add", 10)
    assert re.search(r"^\| \| 200 chunks \| 300 chunks \|$", out, re.M)
    timed = re.findall(r"^\| (.+?), ms at p50 and p95 \| \d+\.\d, \d+\.\d \| \d+\.\d, \d+\.\d \|$", out, re.M)
    assert timed == list(SEARCHES)
    sizes = re.findall(r"^\| (memory|disk): (.+?), MB \| ([\d.]+) \| ([\d.]+) \|$", out, re.M)
    assert {what for kind, what, *_ in sizes if kind == "memory"} == {"app", "Postgres", "Chroma"}
    assert {what for _, what, *both in sizes if 0.0 in map(float, both)} <= {"Chroma: room that its log has left"}
    assert len(re.findall(r"^\d+ chunks added in [\d.]+ s, \d+ a second, beside (?:200|300)$", out, re.M)) == 2
    assert re.search(r"^hybrid p95 grows to [\d.]+ times, at most 4: (?:met|missed)\.$", out, re.M)


@pytest.mark.soak
def test_people_ask_one_app_and_two(printed: Printed):
    out = printed(
        scale, "ask", "--people", 1, 2, "--rounds", 1, "--share", 0.9, "--delay", 0, "--token-seconds", 0, "--tokens", 5
    )
    rows = re.findall(r"^\| (\d) \| (\d+) \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$", out, re.M)
    assert rows == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"), ("2", "4")]
    assert re.search(r"^Two (?:hold|apps are slower) .+$", out, re.M)


@pytest.mark.parametrize(
    ("two", "told"),
    [
        ([(10, 2.0), (18, 4.0), (36, 8.0)], "Two hold 18 at the p95 of one with 10: 1.80 times, 1.8 met."),
        ([(10, 2.0), (20, 6.0)], "Two hold 15 at the p95 of one with 10: 1.50 times, 1.8 missed."),
        ([(10, 2.0), (20, 3.0)], "Two hold at least 20 at the p95 of one with 10: 2.00 times, 1.8 met."),
        ([(10, 5.0)], "Two apps are slower with 10 people than one with 10."),
    ],
)
def test_how_many_two_hold_is_read_between_what_was_measured(two, told):
    def asked(apps: int, people: int, p95: float) -> Asked:
        return Asked(apps, people, [p95], 0.3, 0.1)

    measured = [asked(1, 1, 1.0), asked(1, 10, 4.0), *(asked(2, *each) for each in two)]
    assert list(held(measured)) == [told]

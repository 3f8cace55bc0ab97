import os
import shutil
from pathlib import Path

import pytest

from rag.models.embedded.engines import choice
from rag.models.embedded.engines.qwen2.prepared import BYTES, NOTE, folder_of

QWEN2, LLAMA_CPP = "rag.models.embedded.engines.qwen2", "rag.models.embedded.engines.llama_cpp"


@pytest.fixture
def model(tiny_model: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder_of(tiny_model), folder_of(tmp_path / "tiny.gguf"))
    return Path(shutil.copyfile(tiny_model, tmp_path / "tiny.gguf"))


def test_a_model_with_a_graph_is_served_by_the_graph(model: Path) -> None:
    assert choice.command(model) == [QWEN2, str(model)]
    assert not choice.should_prepare(model)


def test_a_model_without_a_graph_is_served_by_llama_cpp(model: Path) -> None:
    shutil.rmtree(folder_of(model))
    assert choice.command(model) == [LLAMA_CPP, str(model)]
    assert choice.should_prepare(model)


def cut(folder: Path) -> None:
    with (folder / BYTES).open("r+b") as file:
        file.truncate(1000)


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        lambda folder: (folder / NOTE).unlink(),
        lambda folder: (folder / NOTE).write_text("{"),
        lambda folder: (folder / NOTE).write_text('{"sizes": {"layers": 2}}'),
        lambda folder: (folder / NOTE).write_text("[]"),
        lambda folder: (folder / NOTE).write_bytes(b"\xff"),
        lambda folder: os.truncate(folder.with_suffix(".gguf"), folder.with_suffix(".gguf").stat().st_size + 100),
    ],
    ids=["half of it", "no note", "half a note", "another note", "a list", "no text", "another model"],
)
def test_a_graph_that_is_not_whole_or_of_another_model_is_not_used_and_is_made_anew(model: Path, damage) -> None:
    damage(folder_of(model))
    assert choice.command(model) == [LLAMA_CPP, str(model)]
    choice.prepare(model)
    assert choice.command(model) == [QWEN2, str(model)]


@pytest.mark.parametrize(
    ("flags", "is_so"),
    [("fpu avx2 fma", False), ("fpu avx2 avx_vnni", True), ("fpu avx512f avx512_vnni", True), ("", False)],
)
def test_the_graph_is_for_processors_that_multiply_bytes(monkeypatch, flags: str, is_so: bool) -> None:
    monkeypatch.setattr(choice, "instructions", lambda: frozenset(flags.split()))
    assert choice.multiplies_bytes() is is_so

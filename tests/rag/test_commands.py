"""`python -m rag`, in this process and as a separate process, with a service that the environment names."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest

from index_store.access.principal import LOCAL
from rag import commands
from rag.commands import main
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN
from rag.pipelines import PIPELINES
from rag.runs.export.export import Export
from rag.runs.history.history import History
from rag.trace.events import RunFinished, StepFinished, Style, from_json
from tests.helpers.full_disk import linux
from tests.helpers.waiting import eventually
from tests.rag.conftest import KEY, TAVILY_KEY
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.verdicts import YES, grounding
from tests.servers import Answer, Refusal, WebResult


@pytest.fixture
def environment(loaded, server) -> dict[str, str]:
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    return os.environ | {
        "DATA_DIR": str(loaded),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": server.base_url,
        "CHAT_MODEL": "test-chat",
        "EMBEDDING_MODEL": "embedded",
        "MODEL_RETRIES": "0",
        "LC_ALL": "C.UTF-8",
    }


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def rag(environment: dict[str, str], *arguments: str, encoding: str = "utf-8", to: BinaryIO | None = None) -> Done:
    """Runs the command in this process, because a new process takes seconds to start. `encoding`: of its output, unless
    the command chooses another. `to`: where it goes, if the test looks there itself.
    """
    minds_interrupts = signal.getsignal(signal.SIGINT)
    out, err = (io.TextIOWrapper(file, encoding, write_through=True) for file in (to or io.BytesIO(), io.BytesIO()))
    with pytest.MonkeyPatch.context() as changed, redirect_stdout(out), redirect_stderr(err):
        for name, value in environment.items():
            changed.setenv(name, value)
        try:
            status = main(list(arguments))
        finally:
            signal.signal(signal.SIGINT, minds_interrupts)
    # Detached, because a wrapper closes its file with itself.
    written, said = out.detach(), err.detach()
    return Done(status, "" if to else written.getvalue().decode(), said.getvalue().decode())


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ([], "Ask questions, and export their runs."),
        (["ask"], "Ask an index a question."),
        (["ask"], "self_rag, or another of `pipelines`"),
        (["export"], "Markdown (default) or JSON"),
        (["export"], "(default: from LC_ALL, LC_MESSAGES or LANG)"),
    ],
)
def test_the_help_of_a_command_says_what_it_does_and_its_defaults(capsys, command, told):
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert told in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["pipelines", "ask", "export"])
def test_the_first_lines_of_the_module_name_each_option(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    options = set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z]+", commands.__doc__ or ""))


@pytest.mark.soak
def test_the_help_and_an_export_load_nothing_that_only_answers_need(tmp_path):
    script = (
        "import sys; from rag.commands import main; main(['export', 'unknown']);"
        "print({'langgraph', 'openai', 'chromadb'} & sys.modules.keys())"
    )
    environment = os.environ | {"DATA_DIR": str(tmp_path), "LANG": "C"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr.count("\n")) == ("set()\n", 1)


def test_the_pipelines_are_listed_with_their_steps(environment):
    done = rag(environment, "pipelines", "--json")
    listed = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0
    assert listed.keys() == PIPELINES.keys()
    assert listed["naive"]["steps"] == ["retrieve", "generate"]
    assert listed["naive"]["retrieval"] == {"mode": "vector", "unit": "chunk", "k": 4}


def test_another_retrieval_than_the_pipelines_can_be_given_in_part_or_whole(environment):
    for given, searched in (
        (("--mode", "hybrid"), ("hybrid", "chunk", 4)),
        (("--unit", "section", "-k", "2"), ("vector", "section", 2)),
    ):
        done = rag(environment, "ask", "--index", INDEX, "--pipeline", "naive", "--json", *given, QUESTION)
        assert done.returncode == 0, done.stderr
        events = [from_json(line) for line in done.stdout.splitlines()]
        detail = next(each.detail for each in events if isinstance(each, StepFinished) and each.step == "retrieve")
        assert (detail.mode, detail.unit, len(detail.passages)) == searched


def test_a_length_a_tone_and_a_temperature_can_be_given(environment):
    done = rag(
        environment | {"ANSWER_LENGTH": "long"}, "ask", "--index", INDEX, "--pipeline", "naive", "--json", "--tone",
        "plain", "--temperature", "0.7", QUESTION,
    )  # fmt: skip
    started = from_json(done.stdout.splitlines()[0])
    assert (done.returncode, started.style) == (0, Style(length="long", tone="plain", temperature=0.7))


def test_a_question_goes_on_with_a_conversation(environment, server):
    asked = ("ask", "--index", INDEX, "--pipeline", "naive")
    first = rag(environment, *asked, QUESTION)
    [conversation] = [line.split()[1] for line in first.stderr.splitlines() if line.startswith("conversation ")]
    server.answer_when(lambda request: JA.standalone in request.prompt, "出張の日当は誰が承認しますか?")
    followed = rag(environment, *asked, "--conversation", conversation, "それは誰が承認しますか?")
    assert followed.returncode == 0, followed.stderr
    assert "· standalone_question" in followed.stderr
    assert f"conversation {conversation}" in followed.stderr
    assert "出張の日当は誰が承認しますか?" in server.chats[-1].prompt


@pytest.mark.parametrize(
    ("language", "words"),
    [("ja", "という会話はありません"), pytest.param("en", "no conversation “4711”", marks=pytest.mark.soak)],
)
def test_a_conversation_that_is_not_known_is_told_in_a_sentence(environment, language, words):
    asked = ("ask", "--index", INDEX, "--conversation", "4711", "--language", language, QUESTION)
    refused = rag(environment, *asked)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_answer_that_says_no_names_what_was_searched_and_cites_the_nearest(environment, server):
    server.default = f"{TOKEN} 資料には書かれていません。"
    done = rag(environment, "ask", "--index", INDEX, "--pipeline", "naive", QUESTION)
    assert done.returncode == 0
    assert done.stdout.startswith("資料には書かれていません。\n")
    assert TOKEN not in done.stdout
    assert QUESTION in done.stdout
    assert "[1] 出張旅費規程 > 第3条 日当 (travel.ja.md)" in done.stdout
    assert done.stderr.splitlines()[-1].endswith("not_in_documents")


def test_an_answer_that_no_check_confirmed_is_told_as_such(environment, server):
    server.default = lambda request: (
        grounding("partly", "日当は1日2,500円です。")
        if JA.grounding in request.prompt
        else YES
        if "JSON" in request.prompt
        else ANSWER
    )
    done = rag(environment | {"LC_ALL": "ja_JP.UTF-8"}, "ask", "--index", INDEX, "--pipeline", "self_rag", QUESTION)
    assert "この回答は確認に合格していません。" in done.stderr
    assert "日当は1日2,500円です。" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("unconfirmed")


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("RUN_CALL_LIMIT", "3", ("3 model calls", "RUN_CALL_LIMIT")),
        pytest.param("RUN_TOKEN_LIMIT", "1000", ("RUN_TOKEN_LIMIT",), marks=pytest.mark.soak),
    ],
)
def test_a_run_whose_budget_is_spent_ends_in_a_sentence(environment, server, setting, value, words):
    server.tokens = 600
    done = rag(environment | {setting: value}, "ask", "--index", INDEX, "--pipeline", "self_rag", QUESTION)
    assert done.returncode == 1
    assert all(word in done.stderr for word in words)
    assert done.stderr.splitlines()[-1].startswith("limited")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--tone", "rude"), ("rude", "neutral, polite, plain")),
        (("--temperature", "hot"), ("hot", "0〜2")),
        (("-k", "many"), ("many", "1〜20")),
        (("--conversation", "\udcff"), ("会話はありません",)),
        *(
            pytest.param(*each, marks=pytest.mark.soak)
            for each in (
                (("--length", "endless"), ("endless", "short, normal, long")),
                (("--mode", "fuzzy"), ("fuzzy", "vector, keyword, hybrid")),
                (("--unit", "page"), ("page", "chunk, section")),
                (("-k", "0"), ("0", "1〜20")),
                (("-k", ""), ("1〜20",)),
            )
        ),
    ],
)
def test_a_retrieval_or_a_style_that_cannot_be_is_told_in_a_sentence(environment, given, words):
    done = rag(environment | {"LC_ALL": "ja_JP.UTF-8"}, "ask", "--index", INDEX, *given, QUESTION)
    assert done.returncode == 1
    assert all(word in done.stderr for word in words)
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_an_answer_goes_to_standard_output_with_its_source_and_the_steps_beside_it(environment):
    done = rag(environment, "ask", "--index", INDEX, "--pipeline", "self_rag", QUESTION)
    assert done.returncode == 0
    assert done.stdout == f"{ANSWER}\n[1] 出張旅費規程 > 第3条 日当 (travel.ja.md)\n"
    assert "· grade_documents yes" in done.stderr
    assert "-> generate (relevant_found)" in done.stderr
    assert re.search(r"finished · \d+\.\d s · 7 calls · \d+ tokens", done.stderr)


def test_a_file_gets_the_last_attempt_at_an_answer_alone(environment, server):
    drafts = iter(("日当は3,000円です[1]。", ANSWER))
    grades = iter((grounding("no", "3,000円"), grounding("fully")))
    server.answer_when(lambda request: JA.grounding in request.prompt, lambda request: next(grades))
    server.answer_when(lambda request: JA.answer in request.prompt, lambda request: next(drafts))
    done = rag(environment, "ask", "--index", INDEX, "--pipeline", "self_rag", QUESTION)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{ANSWER}\n[1] 出張旅費規程 > 第3条 日当 (travel.ja.md)\n"


def test_an_answer_is_written_in_utf8_wherever_it_goes(environment):
    done = rag(environment, "ask", "--index", INDEX, "--pipeline", "naive", QUESTION, encoding="ascii")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, ANSWER)


def test_an_answer_gives_the_terminal_no_command(environment, server):
    server.default = "日当は\x1b[2J\x1b]0;x\x072,500円\x9b31mです[1]。\n\t- 半額"
    asked = ("ask", "--index", INDEX, "--pipeline", "naive", QUESTION)
    done = rag(environment, *asked)
    assert done.stdout.startswith("日当は\ufffd[2J\ufffd]0;x\ufffd2,500円\ufffd31mです[1]。\n\t- 半額\n[1]")
    as_json = rag(environment, *asked, "--json").stdout
    assert from_json(as_json.splitlines()[-1]).answer == server.default
    assert not set(as_json) & set("\x1b\x07\x9b")
    refused = rag(environment, "ask", "--index", "\x1b[2J", QUESTION)
    assert "\ufffd[2J" in refused.stderr
    assert "\x1b" not in refused.stderr


def test_json_is_one_event_a_line_and_the_last_is_run_finished(environment):
    done = rag(environment, "ask", "--index", INDEX, "--pipeline", "naive", "--json", QUESTION)
    events = [from_json(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [each.step for each in events if isinstance(each, StepFinished)] == ["retrieve", "generate"]
    *_, last = events
    assert isinstance(last, RunFinished)
    assert (last.status, last.answer, last.totals.model_calls) == ("finished", ANSWER, 1)
    assert [(each.source, "2,500円" in each.text) for each in last.citations] == [("travel.ja.md", True)]


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"OPENAI_API_KEY": "sk-wrong-4711"}, (INDEX, "naive"), ("OPENAI_API_KEY", "有効なキー")),
        ({}, ("other", "naive"), ("other", "インデックスはありません")),
        ({}, (INDEX, "agentic"), ("agentic", "パイプラインはありません")),
        ({"MAX_REWRITES": "many"}, (INDEX, "naive"), ("MAX_REWRITES", "0〜10 の整数")),
    ],
    ids=["wrong key", "unknown index", "unknown pipeline", "bad setting"],
)
def test_what_goes_wrong_is_one_sentence_in_the_readers_language(environment, change, arguments, words):
    index, pipeline = arguments
    done = rag(
        environment | {"LC_ALL": "ja_JP.UTF-8"} | change, "ask", "--index", index, "--pipeline", pipeline, "日当は?"
    )
    assert done.returncode == 1
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert "4711" not in done.stderr + done.stdout
    assert done.stdout.strip() == ""


def test_with_json_what_goes_wrong_is_json_too(environment):
    refused = rag(environment, "ask", "--index", INDEX, "--pipeline", "agentic", "--json", "?")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"]["code"] == "unknown_pipeline"


@pytest.mark.parametrize(
    ("index", "question", "code"), [("other", "?", "unknown_index"), (INDEX, " ", "empty_question")]
)
def test_a_question_that_cant_be_asked_is_not_stored(environment, loaded, index, question, code):
    refused = rag(environment, "ask", "--index", index, "--pipeline", "naive", "--json", question)
    assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (1, code)
    with closing(History(loaded, None)) as history:
        assert history.conversations.listed(principal=LOCAL) == []


def test_an_interrupt_stops_the_run_and_the_model(environment, server):
    server.default = Answer(ANSWER * 50, until=threading.Event())
    written = io.BytesIO()

    def interrupt() -> None:
        if eventually(lambda: b'"kind":"token"' in written.getvalue()):
            os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    asked = ("ask", "--index", INDEX, "--pipeline", "naive", "--mode", "keyword", "--json", QUESTION)
    done = rag(environment, *asked, to=written)
    interrupting.join()
    last = from_json(written.getvalue().decode().splitlines()[-1])
    assert (last.status, done.returncode) == ("stopped", 1)
    assert 0 < len(last.answer) < len(ANSWER * 50)
    assert server.chats[0].disconnected.wait(60)


@pytest.mark.soak  # in this process: test_an_interrupt_stops_the_run_and_the_model
def test_ctrl_c_stops_the_run_and_the_model(environment, server):
    server.default = Answer(ANSWER * 50, until=threading.Event())
    asked = ["ask", "--index", INDEX, "--pipeline", "naive", "--mode", "keyword", "--json", QUESTION]
    command = [sys.executable, "-m", "rag", *asked]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asked:
        lines = []
        while not lines or '"kind":"token"' not in lines[-1]:
            lines.append(asked.stdout.readline())
            assert lines[-1], asked.stderr.read()
        asked.send_signal(signal.SIGINT)
        output, errors = asked.communicate(timeout=60)
    last = from_json(output.splitlines()[-1])
    assert (last.status, asked.returncode) == ("stopped", 1)
    assert 0 < len(last.answer) < len(ANSWER * 50)
    assert "Traceback" not in errors
    assert server.chats[0].disconnected.wait(60)


NO_ROOM = "The output can't be written: No space left on device."


@linux
@pytest.mark.parametrize("given", [[], ["--json"]], ids=["text", "json"])
def test_an_output_for_which_there_is_no_room_is_told_in_one_sentence(environment, given):
    with Path("/dev/full").open("wb") as full:
        done = rag(environment, "ask", "--index", INDEX, "--pipeline", "naive", *given, QUESTION, to=full)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(NO_ROOM)


@linux
@pytest.mark.soak  # in this process: the test above; with a process that lists documents: tests/index_store
@pytest.mark.parametrize("given", [[], ["--json"]], ids=["text", "json"])
def test_a_process_for_whose_output_there_is_no_room_tells_it_in_one_sentence(environment, given):
    with Path("/dev/full").open("wb") as full:
        asked = [sys.executable, "-m", "rag", "ask", "--index", INDEX, "--pipeline", "naive", *given, QUESTION]
        done = subprocess.run(asked, env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(NO_ROOM)


@pytest.mark.parametrize(
    ("language", "mark"), [("ja", "外部(Web): "), pytest.param("en", "from the web: ", marks=pytest.mark.soak)]
)
def test_a_source_from_the_web_is_marked_and_named_with_its_address(environment, server, tavily, language, mark):
    tavily.default = [
        WebResult("東京の天気", "https://weather.example/tokyo", "晴れです。", published_date="2026-11-20")
    ]
    environment |= {"TAVILY_API_KEY": TAVILY_KEY, "TAVILY_BASE_URL": tavily.url}
    server.answer_when(lambda request: JA.route in request.prompt, '{"route": "web"}')
    server.answer_when(lambda request: JA.answer in request.prompt, "晴れです[1]。")
    asked = ("ask", "--index", INDEX, "--pipeline", "adaptive", "--language", language, "今日の東京の天気は?")
    done = rag(environment, *asked)
    assert done.returncode == 0, done.stderr
    assert f"[1] {mark}東京の天気 (https://weather.example/tokyo, 2026-11-20)" in done.stdout
    [line] = [line for line in rag(environment, *asked, "--json").stdout.splitlines() if "run_finished" in line]
    [citation] = from_json(line).citations
    assert (citation.origin, citation.published) == ("web", "2026-11-20")


def test_without_the_address_of_its_database_a_moved_folder_exports_nothing_and_says_what_is_missing(
    environment, tmp_path
):
    folder = tmp_path / "moved"
    folder.mkdir(mode=0o700)
    (folder / "database.id").write_text("0" * 32)
    done = rag(environment | {"DATA_DIR": str(folder)}, "export", "--language", "en", "some-run")
    assert done.returncode == 1
    assert "Set DATABASE_URL to that database" in done.stderr
    assert not (folder / "history.sqlite3").exists()


@linux
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="is about root")
def test_root_exports_nothing_from_the_folder_of_another_account(environment, tmp_path):
    folder = tmp_path / "of the app"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    done = rag(environment | {"DATA_DIR": str(folder)}, "export", "some-run")
    assert (done.returncode, done.stdout) == (1, "")
    assert "65534" in done.stderr
    assert [*folder.iterdir()] == []


def test_no_output_holds_the_key_of_a_search_that_is_refused(environment, server, tavily):
    server.answer_when(lambda request: EN.relevance in request.prompt, '{"verdict": "no"}')
    tavily.fails(Refusal(401, message=f"Invalid key {TAVILY_KEY}"))
    environment |= {"TAVILY_API_KEY": TAVILY_KEY, "TAVILY_BASE_URL": tavily.url, "WEB_SEARCH": "tavily"}
    done = rag(environment, "ask", "--index", INDEX, "--pipeline", "corrective", "--json", "What is a tavily?")
    assert done.returncode == 0, done.stderr
    assert "web_key_refused" in done.stdout
    assert TAVILY_KEY not in done.stdout + done.stderr


def test_a_run_and_its_conversation_are_written_as_markdown_and_json(environment):
    asked = rag(environment, "ask", "--index", INDEX, "--pipeline", "naive", "--json", QUESTION)
    started, *_ = (from_json(line) for line in asked.stdout.splitlines())
    told = rag(environment, "export", "--language", "en", started.run_id)
    assert told.returncode == 0, told.stderr
    assert f"**Question**\n\n{QUESTION}\n" in told.stdout
    assert "**generate**" in told.stdout
    written = rag(environment, "export", "--format", "json", started.conversation_id)
    assert Export.from_json(written.stdout).runs[0].started == started
    noted = "".join(file.read_text() for file in Path(environment["DATA_DIR"]).glob("audit/*.jsonl"))
    assert [noted.count(each) for each in ('"exported"', '"markdown"', '"json"')] == [2, 1, 1]
    for name, shown in (("nothing", "nothing"), ("\udcff", "\ufffd")):
        nothing = rag(environment, "export", "--language", "ja", name)
        assert (nothing.returncode, nothing.stdout) == (1, "")
        assert f"「{shown}」という会話や実行はありません" in nothing.stderr

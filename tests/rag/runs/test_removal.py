"""What traces keep of removed documents."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from index_store.catalogue.removed_documents import RemovedDocuments
from index_store.store.index_store import IndexStore
from rag.models.service.ja import JA
from rag.runs import removal
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import EditPrompt, LeaveOut, TakeIn
from rag.runs.fork.sqlite_checkpoints import FILE as CHECKPOINTS
from rag.runs.run.run import Run
from rag.settings import Settings
from rag.trace.calls import Message
from rag.trace.details import RetrievalDetail
from rag.trace.events import RunFinished, StepFinished
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX
from tests.rag.scripted import Gate, Held
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import NO

SENTENCE = "金庫の暗証番号は八八四一です。"
DOCUMENT = f"# 金庫\n\n## 経理部の金庫の開け方\n\n{SENTENCE}\n\n係の者だけが開けられます。"
QUESTION = "金庫の暗証番号は何番ですか?"


@pytest.fixture(scope="module")
def folder_with_it(loaded_folder: Path, embeddings, tmp_path_factory) -> Path:
    """A data folder with a document about a safe besides the others; tests use copies of it."""
    folder = shutil.copytree(loaded_folder, tmp_path_factory.mktemp("with-it") / "data")
    file = tmp_path_factory.mktemp("documents") / "safe.md"
    file.write_text(DOCUMENT, encoding="utf-8")
    with IndexStore(Settings(data_dir=folder, database_url=None), embeddings) as store:
        assert store.add(INDEX, file, "safe.md").error is None
    return folder


@pytest.fixture
def loaded(folder_with_it: Path, data_dir: Path) -> Path:
    return shutil.copytree(folder_with_it, data_dir)


@pytest.fixture
def open_loaded(opened, chat):
    """Opens an engine on the data folder of this test, with the document about a safe."""
    chat.default = "文書のとおりです[1]。"
    return opened


def ask(engine: UserEngine, pipeline: str = "naive"):
    return engine.ask(QUESTION, index=INDEX, pipeline_name=pipeline)


def stored(engine: UserEngine) -> bytes:
    """The bytes of all files of the history."""
    return b"".join(file.read_bytes() for file in engine.settings.data_dir.glob("history.sqlite3*"))


def is_forgotten(engine: UserEngine) -> bool:
    return eventually(lambda: process_of(engine).store.removed() == [])


@pytest.mark.soak
def test_the_header_above_the_rows_of_a_table_is_read_with_them_and_goes_with_them(open_loaded, chat, tmp_path):
    header = "| 等級 | 潜水手当 |\n| --- | --- |\n"
    rows = "".join(f"| 等級{number} | {number}00円 |\n" for number in range(150, 190))
    file = tmp_path / "rates.md"
    file.write_text(header + rows, encoding="utf-8")
    with open_loaded() as engine:
        engine.store.add(INDEX, file, "rates.md")
        run = engine.ask("等級170の潜水手当はいくらですか?", index=INDEX, pipeline_name="naive")
        [first] = run.result().citations
        assert (first.header, first.text.startswith("| 等級")) == (header, True)
        assert f"\n{first.header}{first.text}\n</passage>" in chat.prompts[-1]
        assert "潜水手当 |".encode() in stored(engine)
        engine.store.remove(INDEX, "rates.md")
        assert is_forgotten(engine)
    assert "潜水手当 |".encode() not in stored(engine)


@pytest.mark.parametrize("pipeline", some_of(now=("corrective", "adaptive")))
def test_no_trace_holds_a_sentence_of_a_document_that_was_removed(open_loaded, pipeline):
    with open_loaded() as engine:
        run = ask(engine, pipeline)
        assert run.result().citations[0].source == "safe.md"
        assert SENTENCE.encode() in stored(engine)
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        for word in (SENTENCE, "開け方", "係の者だけ"):
            assert word.encode() not in stored(engine)

        events = engine.history.events(run.id)
        assert [type(each) for each in events] == [type(each) for each in run.events if each.kind != "token"]
        [cited] = [each for each in events[-1].citations if each.source == "safe.md"]
        assert (cited.removed, cited.text, cited.title) == (True, "", "金庫")
        assert events[-1].answer == run.result().answer
        [searched] = [each.detail for each in events if isinstance(each, StepFinished) and each.step == "retrieve"]
        assert {each.source: each.removed for each in searched.passages}["safe.md"]
        assert all(each.text and not each.removed for each in searched.passages if each.source != "safe.md")


def rewritten_because(engine: UserEngine, run: Run) -> str:
    ended = [each for each in engine.history.events(run.id) if isinstance(each, StepFinished)]
    return next(each.detail for each in ended if each.step == "rewrite_question").reason


def test_the_reason_of_a_rewrite_keeps_the_title_of_a_passage_but_no_heading(open_loaded, chat):
    chat.answer_when(JA.relevance, answer=NO)
    with open_loaded() as engine:
        run = ask(engine, "self_rag")
        run.result()
        told = rewritten_because(engine, run)
        assert "金庫 > 経理部の金庫の開け方: " in told
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert "開け方".encode() not in stored(engine)
        assert rewritten_because(engine, run) == told.replace("金庫 > 経理部の金庫の開け方: ", "金庫: ")


@pytest.mark.soak
def test_a_rewrite_that_ends_after_the_removal_names_no_heading_either(open_loaded, chat):
    chat.answer_when(JA.relevance, answer=NO)
    gate = Gate()
    chat.answer_when(JA.rewrite, answer=Held(gate, "金庫を開ける番号は何番ですか?"))
    with open_loaded() as engine:
        run = ask(engine, "self_rag")
        gate.wait_for(1)
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        gate.open()
        run.result()
        assert "金庫: " in rewritten_because(engine, run)
        assert "開け方".encode() not in stored(engine)


def prompts(engine: UserEngine, run: Run) -> str:
    """All stored prompts of a run."""
    ended = [each for each in engine.history.events(run.id) if isinstance(each, StepFinished)]
    kept = [call for each in ended for call in engine.history.calls.of_step(run.id, each.step, each.attempt)]
    return "\n".join(message.text for call in kept for message in call.messages)


def packed(engine: UserEngine) -> int:
    """The number of rows with calls in the file."""
    with closing(sqlite3.connect(engine.settings.data_dir / "history.sqlite3")) as connection:
        return connection.execute("SELECT count(*) FROM calls").fetchone()[0]


@pytest.mark.parametrize("pipeline", some_of(now=("adaptive",)))
def test_the_prompts_of_a_run_that_quoted_it_go_whole(open_loaded, pipeline):
    with open_loaded() as engine:
        run = ask(engine, pipeline)
        run.result()
        assert SENTENCE in prompts(engine, run)
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert prompts(engine, run) == ""
        assert packed(engine) == 0


def test_a_prompt_that_a_person_edited_goes_with_the_document_that_it_quotes(open_loaded):
    with open_loaded() as engine:
        origin = ask(engine)
        origin.result()
        [call] = engine.history.calls.of_step(origin.id, "generate", 1)
        messages = tuple(Message(role=each.role, text=f"{each.text}!") for each in call.messages)
        fork = engine.forks.begin(origin.id, "generate", 1, [EditPrompt(messages=messages)])
        fork.result()
        link = engine.shares.add(fork.id)
        assert SENTENCE in engine.history.events(fork.id)[0].origin.changes[0].after
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert SENTENCE.encode() not in stored(engine)
        assert [each.what for each in engine.history.events(fork.id)[0].origin.changes] == ["prompt"]
        assert SENTENCE not in str(engine.shares.shared(link.token).events(fork.id))


def test_the_prompts_of_other_runs_stay(open_loaded):
    with open_loaded() as engine:
        run = engine.ask(
            "VPN client?", index=INDEX, pipeline_name="naive", retrieval=Retrieval(mode="vector", unit="chunk", k=1)
        )
        run.result()
        before = prompts(engine, run)
        assert "HazeGate" in before
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert prompts(engine, run) == before


@pytest.mark.parametrize("keep_removed", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_no_page_is_shown_a_sentence_of_it_out_of_the_memory_of_the_engine(open_loaded, keep_removed):
    with open_loaded(keep_removed=keep_removed) as engine:
        run = ask(engine)
        run.result()
        assert engine.run(run.id)
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert bool(engine.run(run.id)) == keep_removed


def test_a_run_that_had_read_it_before_and_ends_later_brings_neither_it_nor_a_prompt_back(open_loaded, chat):
    gate = Gate()
    chat.enqueue(Held(gate, "文書のとおりです[1]。"))
    with open_loaded() as engine:
        run = ask(engine)
        gate.wait_for(1)
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        gate.open()
        assert run.result().citations[0].source == "safe.md"
        assert isinstance(engine.history.events(run.id)[-1], RunFinished)
        assert SENTENCE.encode() not in stored(engine)
        assert packed(engine) == 0


def test_what_another_process_removed_goes_at_the_next_start(open_loaded, loaded, embeddings):
    with open_loaded() as engine:
        ask(engine).result()
    with IndexStore(Settings(data_dir=loaded), embeddings) as store:
        store.remove(INDEX, "safe.md")
    with open_loaded() as engine:
        assert is_forgotten(engine)
        assert SENTENCE.encode() not in stored(engine)


@pytest.mark.parametrize("step", [pytest.param("ids", marks=pytest.mark.soak), "forget"])
def test_what_the_database_does_not_let_go_is_told_in_the_log_and_tried_again(open_loaded, monkeypatch, caplog, step):
    def is_away(*_: object) -> None:
        raise OperationalError("SELECT", {}, ConnectionError("the server is away"))

    monkeypatch.setattr(removal, "UNTIL_TRIED_AGAIN", 0.05)
    with open_loaded() as engine:
        ask(engine).result()
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(RemovedDocuments, step, is_away)
            engine.store.remove(INDEX, "safe.md")
            assert eventually(lambda: "tried again" in caplog.text)
        assert is_forgotten(engine)
        assert SENTENCE.encode() not in stored(engine)


def test_what_was_removed_last_goes_before_the_engine_is_closed(open_loaded, loaded, embeddings):
    with open_loaded() as engine:
        ask(engine).result()
        engine.store.remove(INDEX, "safe.md")
    with IndexStore(Settings(data_dir=loaded), embeddings) as store:
        assert store.removed() == []


def test_an_index_that_is_deleted_takes_the_passages_of_all_its_documents(open_loaded):
    with open_loaded() as engine:
        ask(engine, "multivector").result()
        engine.store.delete_index(INDEX)
        assert is_forgotten(engine)
        assert SENTENCE.encode() not in stored(engine)


# Also in test_a_prompt_that_a_person_edited_goes_with_the_document_that_it_quotes and
# test_a_fork_that_left_it_out_of_a_search_keeps_neither_checkpoints_nor_a_heading_of_it.
@pytest.mark.soak
def test_a_fork_keeps_neither_an_edited_prompt_nor_a_heading_of_it(open_loaded):
    with open_loaded() as engine:
        origin = ask(engine)
        [number] = [each.number for each in origin.result().citations if each.source == "safe.md"]
        [call] = engine.history.calls.of_step(origin.id, "generate", 1)
        longer = tuple(each.model_copy(update={"text": f"{each.text}。"}) for each in call.messages)
        changes = (EditPrompt(messages=longer), LeaveOut(passage=number))
        forks = [engine.forks.begin(origin.id, "generate", 1, [each]) for each in changes]
        for fork in forks:
            fork.result()
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        for word in (SENTENCE, "開け方"):
            assert word.encode() not in stored(engine)
        told = [each for fork in forks for each in engine.history.events(fork.id)[0].origin.changes]
        assert [(each.what, each.before, each.after) for each in told] == [("prompt", "", ""), ("left_out", "金庫", "")]


def test_no_heading_of_it_stays_where_another_document_says_almost_the_same(open_loaded, tmp_path):
    file = tmp_path / "keys.md"
    file.write_text(DOCUMENT.replace("# 金庫", "# 鍵").replace("経理部の金庫の開け方", "引き継ぎ"), encoding="utf-8")
    with open_loaded() as engine:
        engine.store.add(INDEX, file, "keys.md")
        run = ask(engine)
        run.result()
        [passage] = [each for each in searched(engine, run).passages if each.copies]
        assert (passage.source, [each.source for each in passage.copies]) == ("safe.md", ["keys.md"])
        assert "引き継ぎ".encode() in stored(engine)
        engine.store.remove(INDEX, "keys.md")
        assert is_forgotten(engine)
        assert "引き継ぎ".encode() not in stored(engine)
        assert with_checkpoints(engine) == set()
        [copy] = passage.copies
        blank = passage.model_copy(update={"copies": (copy.model_copy(update={"headings": ()}),)})
        assert [each for each in searched(engine, run).passages if each.copies] == [blank]


def with_checkpoints(engine: UserEngine) -> set[str]:
    """The runs that have checkpoints in the file."""
    with closing(sqlite3.connect(engine.settings.data_dir / CHECKPOINTS)) as connection:
        rows = connection.execute("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes")
        return {run_id for (run_id,) in rows}


def searched(engine: UserEngine, run: Run) -> RetrievalDetail:
    """The outcome of its search."""
    ended = [each for each in engine.history.events(run.id) if isinstance(each, StepFinished)]
    return next(each.detail for each in ended if each.step == "retrieve")


def test_a_fork_that_left_it_out_of_a_search_keeps_neither_checkpoints_nor_a_heading_of_it(open_loaded):
    with open_loaded() as engine:
        origin = ask(engine)
        [number] = [each.number for each in origin.result().citations if each.source == "safe.md"]
        fork = engine.forks.begin(origin.id, "retrieve", 1, [LeaveOut(passage=number)])
        fork.result()
        assert "safe.md" not in {each.source for each in searched(engine, fork).passages}
        [call] = engine.history.calls.of_step(fork.id, "generate", 1)
        longer = tuple(each.model_copy(update={"text": f"{each.text}。"}) for each in call.messages)
        of_fork = engine.forks.begin(fork.id, "generate", 1, [EditPrompt(messages=longer)])
        of_fork.result()
        assert with_checkpoints(engine) == {origin.id, fork.id, of_fork.id}
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert with_checkpoints(engine) == set()
        assert "開け方".encode() not in stored(engine)
        [change] = engine.history.events(fork.id)[0].origin.changes
        assert (change.what, change.before, change.after) == ("left_out", "金庫", "")


def test_what_a_fork_takes_in_again_is_no_longer_left_out(open_loaded):
    with open_loaded() as engine:
        run = ask(engine)
        [number] = [each.number for each in run.result().citations if each.source == "safe.md"]
        for edit, left_out in ((LeaveOut(passage=number), [number]), (TakeIn(passage=number), [])):
            run = engine.forks.begin(run.id, "retrieve", 1, [edit])
            run.result()
            assert [each.number for each in searched(engine, run).by_hand] == left_out


def test_who_wants_them_kept_keeps_them(open_loaded):
    with open_loaded(keep_removed=True) as engine:
        run = ask(engine)
        run.result()
        engine.store.remove(INDEX, "safe.md")
        assert is_forgotten(engine)
        assert SENTENCE in engine.history.events(run.id)[-1].citations[0].text
        assert SENTENCE in prompts(engine, run)


def test_a_new_version_of_a_document_leaves_the_traces_as_they_are(open_loaded, tmp_path):
    with open_loaded() as engine:
        run = ask(engine)
        run.result()
        (tmp_path / "safe.md").write_text("# 金庫\n\nもうありません。", encoding="utf-8")
        assert engine.store.add(INDEX, tmp_path / "safe.md", "safe.md").error is None
        assert process_of(engine).store.removed() == []
        assert SENTENCE in engine.history.events(run.id)[-1].citations[0].text

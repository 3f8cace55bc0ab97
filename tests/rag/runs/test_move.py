"""A data folder is taken to Postgres and a Chroma server, and back: all is as it was, whenever it was killed."""

import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from index_store.backup.manifest import databases
from index_store.base.errors import CatalogueInFolder, MoveUnfinished
from index_store.library.switch import MOVING, SWITCHING
from index_store.move.kept import all_kept
from index_store.move.plan import To
from index_store.store import IndexStore
from rag.runs.fork.edits import EditQuery
from rag.settings import Settings
from tests.local import process_of
from tests.rag.documents import INDEX
from tests.rag.runs.moved import live_in, moved, opened, seen, with_servers
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PASSWORD, PostgresServer

OLD = Path(__file__).parents[2] / "old_folders"


@pytest.fixture(scope="module")
def lived_in(loaded_folder, embeddings, tmp_path_factory) -> Path:
    folder = shutil.copytree(loaded_folder, tmp_path_factory.mktemp("lived-in") / "data")
    live_in(Settings(data_dir=folder, web_search="off"), embeddings)
    return folder


@pytest.fixture(scope="module")
def before(lived_in, embeddings, tmp_path_factory) -> dict[str, object]:
    folder = shutil.copytree(lived_in, tmp_path_factory.mktemp("before") / "data")
    with opened(Settings(data_dir=folder, web_search="off"), embeddings) as engine:
        return seen(engine)


@pytest.fixture
def folder(lived_in: Path, data_dir: Path) -> Path:
    return shutil.copytree(lived_in, data_dir)


@pytest.fixture
def servers(folder: Path, postgres: PostgresServer, chroma: ChromaServer) -> Iterator[Settings]:
    url = postgres.new_database()
    yield with_servers(folder, url, chroma.url)
    postgres.drop(url)


def command(settings: Settings, to: str, *more: str) -> subprocess.CompletedProcess[str]:
    urls = {"DATABASE_URL": settings.database_url, "CHROMA_URL": settings.chroma_url}
    variables = {name: url.get_secret_value() for name, url in urls.items() if url}
    done = subprocess.run(
        [sys.executable, "-m", "index_store", "move", "--to", to, *more],
        env={**os.environ, **variables, "DATA_DIR": str(settings.data_dir)},
        capture_output=True,
        encoding="utf-8",
    )
    assert PASSWORD not in done.stdout + done.stderr
    return done


def in_folder(settings: Settings) -> Settings:
    return settings.model_copy(update={"database_url": None, "chroma_url": None})


def is_as_before(settings: Settings, embeddings, before: dict[str, object], lost: str = "\0") -> bool:
    """`lost`: what Postgres has no place for, and has another sign for."""
    with opened(settings, embeddings) as engine:
        assert process_of(engine).store.check() == []
        now = seen(engine)
        fork = next(run for run in engine.history.runs() if run.pipeline == "hybrid" and run.feedback)
        assert engine.forks.begin(fork.id, "retrieve", 1, [EditQuery(query="鉄道")]).result().status == "finished"
    reason = [run.feedback_reason for run in now["runs"] if run.feedback_reason]
    assert reason == [f"日当が{lost}ない"]
    assert {name: repr(each).replace("\ufffd", "\\x00") for name, each in now.items()} == {
        name: repr(each) for name, each in before.items()
    }
    return True


def test_all_of_a_folder_goes_to_servers_and_back_and_the_old_form_stays_aside(servers, folder, embeddings, before):
    files = {file.name for file in databases(folder)}
    done = command(servers, "servers", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (lines[-1]["status"], lines[-1]["checked"]) == ("moved", True)
    [aside] = folder.glob("before-move-*")
    assert str(aside) in lines[-1]["said"]
    assert {file.name for file in databases(aside)} == files
    assert not list(databases(folder))
    assert not (folder / "chroma").exists()
    counts = {line["what"]: line["of"] for line in lines if line["status"] == "moving" and line["done"] == line["of"]}
    assert counts["history.runs"] == 5
    assert counts["checkpoints"] == 5

    done = command(servers, "folder", "--language", "ja")
    print(done.stdout, done.stderr)
    assert (done.returncode, done.stderr) == (0, "")
    assert "移動しました" in done.stdout.splitlines()[-1]
    assert {file.name for file in databases(folder)} == files
    assert is_as_before(in_folder(servers), embeddings, before, lost="\ufffd")
    with pytest.raises(CatalogueInFolder):
        IndexStore(servers, embeddings)


def test_killed_at_several_moments_a_move_goes_on_and_what_was_in_use_stays_so_until_the_switch(
    servers, folder, embeddings, before, postgres
):
    assert not moved(servers, To.SERVERS, told_at=8)
    empty = servers.model_copy(update={"data_dir": folder.parent / "other"})
    with pytest.raises(MoveUnfinished):
        IndexStore(empty, embeddings)
    with opened(in_folder(servers), embeddings) as engine:
        assert {name: repr(each) for name, each in seen(engine).items()} == {
            name: repr(each) for name, each in before.items()
        }
    assert not moved(servers, To.SERVERS, told_at=50)
    # the second is the switch, and the third the first that it brings about
    assert not moved(servers, To.SERVERS, renames=2)
    assert (folder / SWITCHING).exists()
    assert is_as_before(servers, embeddings, before, lost="\ufffd")
    assert not (folder / SWITCHING).exists()
    assert moved(servers, To.SERVERS)


def test_what_was_changed_after_a_kill_is_moved_as_it_is_then(servers, folder, embeddings):
    assert not moved(servers, To.SERVERS, told_at=60)
    with opened(in_folder(servers), embeddings) as engine:
        engine.store.remove(INDEX, "vpn.en.md")
        for each in engine.history.conversations.listed()[:1]:
            engine.delete(each.id)
        engine.ask("冷蔵庫は?", index=INDEX, pipeline_name="naive").result()
        after = seen(engine)
    assert moved(servers, To.SERVERS)
    with opened(servers, embeddings) as engine:
        assert process_of(engine).store.check() == []
        assert repr(seen(engine)).replace("\ufffd", "\\x00") == repr(after)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_at_any_moment_it_goes_there_and_back(servers, folder, embeddings, before):
    chance = random.Random(int(os.environ.get("CRASH_SEED", "1")))
    for to in (To.SERVERS, To.FOLDER):
        kills = 0
        for moment in sorted(chance.sample(range(1, 90), 12)):
            kills += not moved(servers, to, told_at=moment)
        for rename in range(1, 9):
            kills += not moved(servers, to, renames=rename)
        assert kills > 12
        assert moved(servers, to)
        in_use = servers if to is To.SERVERS else in_folder(servers)
        assert is_as_before(in_use, embeddings, before, lost="\ufffd")
        live_on = {run.id for run in _runs(in_use, embeddings)}
        assert live_on
        shutil.rmtree(folder / MOVING, ignore_errors=True)


def _runs(settings: Settings, embeddings) -> list:
    with opened(settings, embeddings) as engine:
        return engine.history.runs()


@pytest.mark.parametrize("name", sorted(each.name for each in OLD.glob("*.tar.xz")))
def test_a_folder_of_an_earlier_version_moves_too(name, tmp_path, postgres, chroma, embeddings):
    with tarfile.open(OLD / name) as packed:
        packed.extractall(tmp_path, filter="data")
    url = postgres.new_database()
    settings = with_servers(tmp_path / "data", url, chroma.url)
    done = command(settings, "servers")
    assert (done.returncode, done.stderr) == (0, "")
    with opened(settings, embeddings) as engine:
        [best, *_] = engine.store.search("handbook", "忌引休暇は何日ですか", mode="hybrid")
        assert best.source == "leave.md"
        assert len(engine.history.conversations.listed()) == 7
    postgres.drop(url)


@pytest.mark.parametrize("name", [each.name for each in all_kept()])
def test_every_database_of_a_folder_is_moved(name, lived_in):
    assert f"{name}.sqlite3" in {file.name for file in databases(lived_in)}


def test_a_database_that_nobody_tells_how_to_move_is_not_left_behind(servers, folder):
    (folder / "notes.sqlite3").touch()
    done = command(servers, "servers")
    assert done.returncode == 1
    assert "notes.sqlite3" in done.stderr
    assert (folder / "catalogue.sqlite3").exists()
    assert not (folder / MOVING).exists()


def test_a_move_beside_an_app_is_refused_in_either_form(servers, folder, embeddings):
    with opened(in_folder(servers), embeddings):
        done = command(servers, "servers")
    assert (done.returncode, "in use by another process" in done.stderr) == (1, True)
    assert moved(servers, To.SERVERS)
    with opened(servers, embeddings):
        done = command(servers, "folder", "--language", "ja")
    assert (done.returncode, "すべて止めてから" in done.stderr) == (1, True)
    assert (folder / "database.id").exists()


def test_it_goes_nowhere_without_an_address_to_another_installation_or_to_servers_that_are_away(
    servers, folder, embeddings, postgres
):
    files = {file.name: file.stat().st_mtime_ns for file in databases(folder)}
    assert "DATABASE_URL" in command(in_folder(servers), "servers").stderr
    away = with_servers(folder, "postgresql://a:secret@127.0.0.1:9/b", "http://127.0.0.1:9")
    done = command(away, "servers")
    assert "can't be reached" in done.stderr
    assert "secret" not in done.stderr
    done = command(servers.model_copy(update={"chroma_url": away.chroma_url}), "servers")
    assert (done.returncode, "127.0.0.1:9" in done.stderr) == (1, True)
    with IndexStore(servers.model_copy(update={"data_dir": folder.parent / "other"}), embeddings):
        pass
    assert {file.name for file in databases(folder)} == set(files)


def test_a_database_of_another_installation_is_refused_and_stays(servers, folder, embeddings):
    with IndexStore(servers.model_copy(update={"data_dir": folder.parent / "other"}), embeddings) as other:
        other.create_index("theirs")
    done = command(servers, "servers")
    assert (done.returncode, "is not empty" in done.stderr) == (1, True)
    with IndexStore(servers.model_copy(update={"data_dir": folder.parent / "other"}), embeddings) as other:
        assert [each.name for each in other.indexes()] == ["theirs"]


def test_an_empty_folder_has_nothing_to_move(servers, tmp_path):
    done = command(servers.model_copy(update={"data_dir": tmp_path / "none"}), "servers")
    assert (done.returncode, "holds nothing of this app" in done.stderr) == (1, True)

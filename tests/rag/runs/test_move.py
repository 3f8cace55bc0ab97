"""Moves of a data folder to Postgres and a Chroma server, and back: no data is lost, even if a move is killed."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Table, select

from index_store.base.database.database import place_of
from index_store.base.database.sqlite import SqliteFile
from index_store.base.errors import (
    CatalogueInFolder,
    DatabaseAway,
    MoveUnfinished,
    PlainError,
    SchemaTaken,
    StoreInUse,
    VectorsAway,
)
from index_store.commands import main
from index_store.library.switch import MOVING, SWITCHING
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.manifest import databases
from index_store.transfer.move import errors as move_errors
from index_store.transfer.move import tables
from index_store.transfer.move.databases import all_databases
from index_store.transfer.move.move import move
from index_store.transfer.move.plan import MoveTarget
from index_store.transfer.move.tables import ProgressCallback, Tables
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import EditQuery
from rag.settings import Settings
from tests.helpers.back_doors import process_of
from tests.helpers.full_disk import full_disk, linux
from tests.old_folders import unpack
from tests.rag.documents import INDEX
from tests.rag.runs.moved import live_in, moved, opened, seen, with_servers
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PASSWORD, PostgresServer

Command = Callable[..., tuple[int, str, str]]

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


@pytest.fixture
def command(servers: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Moves by the command, in this process. Returns its exit status and what it wrote."""
    for name, url in {"DATABASE_URL": servers.database_url, "CHROMA_URL": servers.chroma_url}.items():
        assert url
        monkeypatch.setenv(name, url.get_secret_value())

    def command(to: str, *more: str) -> tuple[int, str, str]:
        status = main(["move", "--to", to, *more])
        out, err = capsys.readouterr()
        assert PASSWORD not in out + err
        return status, out, err

    return command


def in_folder(settings: Settings) -> Settings:
    return settings.model_copy(update={"database_url": None, "chroma_url": None})


def assert_as_before(engine: UserEngine, before: dict[str, object]) -> None:
    assert process_of(engine).store.check() == []
    now = seen(engine)
    # Cosines have 32 bits: the last digit differs between a folder and a server.
    assert now.pop("scores") == pytest.approx(before["scores"], abs=1e-5)
    assert told_of(now) == told_of({name: each for name, each in before.items() if name != "scores"})


def told_of(what: dict[str, object]) -> dict[str, str]:
    """The same for both databases: Postgres can't store NUL and has another character instead."""
    return {name: repr(each).replace("\ufffd", "\\x00") for name, each in what.items()}


def test_all_of_a_folder_goes_to_servers_and_back_and_the_old_form_stays_aside(
    command, servers, folder, embeddings, before
):
    files = {file.name for file in databases(folder)}
    status, out, err = command("servers", "--json")
    assert (status, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (lines[-1]["status"], lines[-1]["checked"]) == ("moved", True)
    [aside] = folder.glob("before-move-*")
    assert str(aside) in lines[-1]["said"]
    assert {file.name for file in databases(aside)} == files
    assert not list(databases(folder))
    assert not (folder / "chroma").exists()
    counts = {line["what"]: line["of"] for line in lines if line["status"] == "moving" and line["done"] == line["of"]}
    assert counts["history.runs"] == 5
    assert counts["checkpoints"] == 5

    status, out, err = command("folder", "--language", "ja")
    assert (status, err) == (0, "")
    assert "移動しました" in out.splitlines()[-1]
    assert {file.name for file in databases(folder)} == files
    with opened(in_folder(servers), embeddings) as engine:
        assert_as_before(engine, before)
        origin = next(run for run in engine.history.runs() if run.feedback)
        assert engine.forks.begin(origin.id, "retrieve", 1, [EditQuery(query="鉄道")]).result().status == "finished"
    with pytest.raises(CatalogueInFolder):
        IndexStore(servers, embeddings)


def test_killed_at_several_moments_a_move_goes_on_and_until_the_switch_the_old_form_is_in_use(
    servers, folder, embeddings, before
):
    assert not moved(servers, MoveTarget.SERVERS, at="history.events")
    with pytest.raises(MoveUnfinished):
        IndexStore(servers.model_copy(update={"data_dir": folder.parent / "other"}), embeddings)
    with opened(in_folder(servers), embeddings) as engine:
        assert_as_before(engine, before)
        # The next move takes these changes too.
        engine.store.remove(INDEX, "vpn.en.md")
        oldest = engine.history.conversations.listed()[-1]
        engine.delete_conversation(oldest.id)
        engine.ask("冷蔵庫は?", index=INDEX, pipeline_name="naive").result()
        after = seen(engine)
    assert not moved(servers, MoveTarget.SERVERS, at="vectors")
    # Killed at the first rename after the switch itself: the app that opens the folder next does the rest.
    assert not moved(servers, MoveTarget.SERVERS, rename=2)
    assert (folder / SWITCHING).exists()
    with opened(servers, embeddings) as engine:
        assert_as_before(engine, after)
    assert not (folder / SWITCHING).exists()
    assert moved(servers, MoveTarget.SERVERS)


@pytest.mark.soak
def test_originals_of_a_share_are_known_to_both_databases(servers, folder, embeddings, before, tmp_path):
    share = shutil.move(folder / "originals", tmp_path / "share")
    shared = servers.model_copy(update={"originals_url": SecretStr(Path(share).as_uri())})
    with opened(in_folder(shared), embeddings) as engine:
        assert_as_before(engine, before)
    assert moved(shared, MoveTarget.SERVERS)
    with opened(shared, embeddings) as engine:
        assert_as_before(engine, before)
    assert moved(shared, MoveTarget.FOLDER)
    with opened(in_folder(shared), embeddings) as engine:
        assert_as_before(engine, before)


@pytest.mark.soak
def test_the_only_document_of_a_folder_can_be_changed_after_the_move(postgres, chroma, embeddings, tmp_path):
    folder, file = tmp_path / "single", tmp_path / "note.md"
    servers = with_servers(folder, postgres.new_database(), chroma.url)
    file.write_text("# Note\n\nThe first words.\n", encoding="utf-8")
    with IndexStore(in_folder(servers), embeddings) as store:
        assert store.add("notes", file, file.name).error is None
    assert moved(servers, MoveTarget.SERVERS)
    file.write_text("# Note\n\nThe second words.\n", encoding="utf-8")
    with IndexStore(servers, embeddings) as store:
        assert store.add("notes", file, file.name).error is None
        assert store.check() == []
        [hit] = store.search("notes", "What are the second words?", k=1, mode="vector")
        assert "second" in hit.text


def test_after_a_move_in_two_steps_another_machine_finds_the_same_vectors(postgres, chroma, embeddings, tmp_path):
    file = tmp_path / "note.md"
    file.write_text("# Note\n\nThe first words.\n", encoding="utf-8")
    servers = with_servers(tmp_path / "one", postgres.new_database(), chroma.url)
    with IndexStore(servers.model_copy(update={"database_url": None}), embeddings) as store:
        assert store.add("notes", file, file.name).error is None
    assert moved(servers, MoveTarget.SERVERS)
    share = Path(shutil.move(servers.data_dir / "originals", tmp_path / "share"))
    servers = servers.model_copy(update={"originals_url": SecretStr(share.as_uri())})
    another = servers.model_copy(update={"data_dir": tmp_path / "two"})
    with IndexStore(servers, embeddings), IndexStore(another, embeddings) as store:
        assert store.check() == []
        assert [hit.title for hit in store.search("notes", "The first words", k=1, mode="vector")] == ["Note"]


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_at_any_moment_a_folder_goes_there_and_back(servers, embeddings, before):
    chance = random.Random(int(os.environ.get("CRASH_SEED", "1")))
    for to in (MoveTarget.SERVERS, MoveTarget.FOLDER):
        words = [moved(servers, to, word=word) for word in sorted(chance.sample(range(1, 40), 12))]
        assert not any(words)
        renames = [moved(servers, to, rename=rename) for rename in range(1, 6)]
        assert not renames[0]
        assert moved(servers, to)
        with opened(servers if to is MoveTarget.SERVERS else in_folder(servers), embeddings) as engine:
            assert_as_before(engine, before)


# Their upgrade is tested in tests/test_old_folder.py, a move above.
@pytest.mark.soak
@pytest.mark.parametrize("name", ["before-0.1.0", "before-prompts"])
def test_a_folder_of_an_earlier_version_moves_too(name, folder, servers, embeddings, on_progress):
    shutil.rmtree(folder)
    unpack(OLD / f"{name}.tar.xz", folder.parent)
    move(servers, MoveTarget.SERVERS, on_progress)
    assert list(folder.glob("before-move-*/catalogue.version-*.sqlite3"))
    with opened(servers, embeddings) as engine:
        assert process_of(engine).store.check() == []
        [best, *_] = engine.store.search("handbook", "忌引休暇は何日ですか", mode="hybrid")
        assert best.source == "leave.md"
        assert len(engine.history.conversations.listed()) == 7


def a_row(table: Table, rows: dict[str, dict[str, object]]) -> dict[str, object]:
    """A row with a value in each column. `rows`: the rows of other tables that it may refer to."""
    made: dict[type, object] = {str: "a", int: 7, float: 1.5, bool: True, bytes: b"\0z", object: {"k": [1, None]}}
    made[datetime] = datetime(2026, 11, 24, 1)
    row: dict[str, object] = {}
    for column in table.columns:
        key = next(iter(column.foreign_keys), None)
        referred = rows.get(key.column.table.name) if key else None
        row[column.name] = referred[key.column.name] if referred else made[column.type.python_type]
    return row


@pytest.mark.parametrize(
    "movable", [each for each in all_databases() if isinstance(each, Tables)], ids=lambda each: each.name
)
def test_every_table_of_a_database_goes_there_and_back(movable, servers, tmp_path, on_progress):
    origin, back = (SqliteFile(tmp_path / f"{name}.sqlite3") for name in ("origin", "back"))
    there = place_of(movable.name, tmp_path, servers.database_url)
    every = movable.schema.tables.sorted_tables
    for place in (origin, there, back):
        movable.make(place)
    rows: dict[str, dict[str, object]] = {}
    with origin.for_migration().begin() as connection:
        for table in [*every, *every]:  # the second time, all rows that they refer to exist
            rows[table.name] = a_row(table, rows)
            connection.execute(table.delete())
            connection.execute(table.insert(), rows[table.name])
    movable.copy(origin, there, on_progress)
    movable.copy(there, back, on_progress)
    with back.for_migration().connect() as connection:
        for table in every:
            assert [dict(row) for row in connection.execute(select(table)).mappings()] == [rows[table.name]]
    with there.for_migration().begin() as connection:
        for table in every:
            if table.autoincrement_column is not None:
                row = rows[table.name] | {table.autoincrement_column.name: None}
                row.pop(table.autoincrement_column.name)
                assert connection.execute(table.insert(), row).inserted_primary_key == (8,)


@pytest.mark.soak
def test_of_many_rows_those_that_were_changed_since_are_changed_there(servers, tmp_path, monkeypatch, on_progress):
    monkeypatch.setattr(tables, "VARIABLES", 100)  # so many rows at once
    origin, there = SqliteFile(tmp_path / "catalogue.sqlite3"), place_of("catalogue", tmp_path, servers.database_url)
    movable = next(each for each in all_databases() if isinstance(each, Tables) and each.name == "catalogue")
    limits = movable.schema.tables.tables["limits"]
    for place in (origin, there):
        movable.make(place)
    with origin.for_migration().begin() as connection:
        connection.execute(limits.insert(), [{"group": f"組{number}", "files": number} for number in range(250)])
    for change in (
        limits.update().where(limits.c.group == "組7").values(files=None),
        limits.delete().where(limits.c.files > 240),
        limits.insert().values(group="a\0b", files=1),
    ):
        movable.copy(origin, there, on_progress)
        with origin.for_migration().begin() as connection:
            connection.execute(change)
    movable.copy(origin, there, on_progress)
    found = []
    for place in (origin, there):
        with place.for_migration().connect() as connection:
            found.append({(row.group.replace("\0", "\ufffd"), row.files) for row in connection.execute(select(limits))})
    assert found[0] == found[1]
    assert len(found[1]) == 242


@pytest.mark.parametrize("to", [MoveTarget.SERVERS, pytest.param(MoveTarget.FOLDER, marks=pytest.mark.soak)])
def test_what_has_the_name_of_another_row_since_an_interrupted_move_goes_there_too(to, servers, tmp_path, on_progress):
    """Indexes that changed names, one that was made again, and a document that was added again."""
    origin, there = SqliteFile(tmp_path / "catalogue.sqlite3"), place_of("catalogue", tmp_path, servers.database_url)
    if to is MoveTarget.FOLDER:
        origin, there = there, origin
    movable = next(each for each in all_databases() if isinstance(each, Tables) and each.name == "catalogue")
    indexes, documents = (movable.schema.tables.tables[name] for name in ("indexes", "documents"))
    for place in (origin, there):
        movable.make(place)
    rows = [a_row(indexes, {}) | {"id": each, "name": each, "owner_id": None} for each in ("one", "two", "old")]
    document = a_row(documents, {}) | {"source": "a.md"}
    with origin.for_migration().begin() as connection:
        connection.execute(indexes.insert(), rows)
        for index in ("one", "two"):
            connection.execute(documents.insert().values(document | {"id": f"in {index}", "index_id": index}))
    movable.copy(origin, there, on_progress)
    with origin.for_migration().begin() as connection:
        for before, name in (("one", "three"), ("two", "one"), ("three", "two")):
            connection.execute(indexes.update().where(indexes.c.name == before).values(name=name))
        connection.execute(indexes.delete().where(indexes.c.id == "old"))
        connection.execute(indexes.insert().values(rows[-1] | {"id": "new"}))
        connection.execute(documents.delete().where(documents.c.id == "in two"))
        connection.execute(documents.insert().values(document | {"id": "again", "index_id": "two"}))
    movable.copy(origin, there, on_progress)
    with there.for_migration().connect() as connection:
        names = {tuple(row) for row in connection.execute(select(indexes.c.id, indexes.c.name))}
        assert names == {("one", "two"), ("two", "one"), ("new", "old")}
        found = {tuple(row) for row in connection.execute(select(documents.c.id, documents.c.index_id))}
        assert found == {("in one", "one"), ("again", "two")}


def test_every_database_of_a_folder_is_moved(lived_in):
    assert {each.name for each in all_databases()} == {file.stem for file in databases(lived_in)}


@pytest.fixture
def on_progress() -> ProgressCallback:
    return lambda *_: None


def refused(settings: Settings, to: MoveTarget, error: type[PlainError]) -> str:
    """Tries a move that is refused. Returns the error's sentences in both languages."""
    with pytest.raises(error) as refusal:
        move(settings, to, lambda *_: None)
    said = "\n".join(refusal.value.sentence(language) for language in ("en", "ja"))
    assert PASSWORD not in said
    return said


def test_what_can_not_be_moved_is_refused_and_the_folder_stays_as_it_is(servers, folder, tmp_path):
    there = {file.name for file in folder.iterdir()}
    refused(servers.model_copy(update={"data_dir": tmp_path / "none"}), MoveTarget.SERVERS, move_errors.NothingToMove)
    refused(in_folder(servers), MoveTarget.SERVERS, move_errors.NowhereToMove)
    away = with_servers(folder, f"postgresql://a:{PASSWORD}@127.0.0.1:9/b", "http://127.0.0.1:9")
    refused(away, MoveTarget.SERVERS, DatabaseAway)
    assert "127.0.0.1:9" in refused(
        servers.model_copy(update={"chroma_url": away.chroma_url}), MoveTarget.SERVERS, VectorsAway
    )
    (folder / "notes.sqlite3").touch()
    assert "notes.sqlite3" in refused(servers, MoveTarget.SERVERS, move_errors.UnknownDatabase)
    (folder / "notes.sqlite3").unlink()
    assert {file.name for file in folder.iterdir()} - there <= {MOVING}


def test_beside_an_app_nothing_is_moved_in_either_direction(servers, folder, embeddings, on_progress):
    with IndexStore(in_folder(servers), embeddings):
        refused(servers, MoveTarget.SERVERS, StoreInUse)
    assert (folder / "catalogue.sqlite3").exists()
    move(servers, MoveTarget.SERVERS, on_progress)
    with IndexStore(servers, embeddings):
        refused(servers, MoveTarget.FOLDER, move_errors.StillUsed)
    assert (folder / "database.id").exists()


def test_a_database_of_another_installation_is_refused_and_stays(servers, folder, embeddings):
    theirs = servers.model_copy(update={"data_dir": folder.parent / "other"})
    with IndexStore(theirs, embeddings) as other:
        other.create_index("theirs")
    assert "catalogue" in refused(servers, MoveTarget.SERVERS, SchemaTaken)
    with IndexStore(theirs, embeddings) as other:
        assert [each.name for each in other.indexes()] == ["theirs"]


# A move goes on also in test_killed_at_several_moments_a_move_goes_on_and_until_the_switch_the_old_form_is_in_use.
@pytest.mark.soak
@linux
def test_a_disk_that_is_full_stops_it_and_it_goes_on_when_there_is_room(servers, folder, embeddings, on_progress):
    move(servers, MoveTarget.SERVERS, on_progress)
    with full_disk(40_000):
        refused(servers, MoveTarget.FOLDER, move_errors.MoveFailed)
    assert (folder / "database.id").exists()
    move(servers, MoveTarget.FOLDER, on_progress)
    with IndexStore(in_folder(servers), embeddings) as store:
        assert store.check() == []

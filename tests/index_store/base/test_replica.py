"""Replicas: several apps on one Postgres know which of them are alive, and receive messages from each other."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import make_url

from index_store.base import errors
from index_store.base import replica as replica_module
from index_store.base.database import postgres as postgres_module
from index_store.base.database.database import Schema, open_database
from index_store.base.database.postgres import PostgresSchema
from index_store.base.replica import Replica
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.schema import SCHEMA
from tests.helpers.waiting import eventually
from tests.servers.postgres import PostgresServer

CHILD = """
import sys
from index_store.base.database.postgres import PostgresSchema
from index_store.base.replica import Replica

replica = Replica(PostgresSchema(sys.argv[1], "catalogue").connect())
print(replica.number, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[SecretStr]:
    url = postgres.new_database()
    yield SecretStr(url)
    postgres.drop(url)


@contextmanager
def replica(url: SecretStr) -> Iterator[Replica]:
    database = open_database(PostgresSchema(url.get_secret_value(), "catalogue"), SCHEMA)
    with closing(Replica(database)) as opened:
        yield opened
    database.dispose()


def test_each_knows_who_is_there_and_hears_what_is_told(url: SecretStr) -> None:
    with replica(url) as one:
        with replica(url) as other:
            assert one.alive() == other.alive() == {one.number, other.number}
            heard: list[tuple[str, str]] = []
            one.subscribe(lambda word: heard.append(("one", word)))
            other.subscribe(lambda word: heard.append(("other", word)))
            one.notify("a word")
            assert eventually(lambda: sorted(heard) == [("one", "a word"), ("other", "a word")])
        assert eventually(lambda: one.alive() == {one.number})


def test_one_that_is_killed_is_gone_at_once(url: SecretStr) -> None:
    command = [sys.executable, "-c", CHILD, url.get_secret_value()]
    with (
        replica(url) as one,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child,
    ):
        assert child.stdout
        number = int(child.stdout.readline())
        assert one.alive() == {one.number, number}
        os.kill(child.pid, signal.SIGKILL)
        assert eventually(lambda: one.alive() == {one.number})


def test_after_its_connections_were_cut_it_is_there_again_under_its_number_and_says_that_it_may_have_missed_something(
    url: SecretStr, postgres: PostgresServer
) -> None:
    with replica(url) as one:
        heard: list[str] = []
        one.subscribe(heard.append)
        name = make_url(url.get_secret_value()).database
        postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        assert eventually(lambda: heard == [""])
        assert one.alive() == {one.number}
        one.notify("again")
        assert eventually(lambda: heard == ["", "again"])


@pytest.mark.soak
def test_after_the_server_was_away_it_is_there_again_under_its_number_and_says_that_it_may_have_missed_something() -> (
    None
):
    with PostgresServer() as server, replica(SecretStr(server.new_database())) as one:
        heard: list[str] = []
        one.subscribe(heard.append)
        server.stop()
        server.start()
        assert eventually(lambda: heard == [""])
        assert one.alive() == {one.number}
        one.notify("again")
        assert eventually(lambda: heard == ["", "again"])


def test_an_exclusive_app_and_a_replica_refuse_each_other(url: SecretStr, monkeypatch: pytest.MonkeyPatch) -> None:
    place = PostgresSchema(url.get_secret_value(), "catalogue")
    owner, sharer = Catalogue(place), Catalogue(place)
    owner.own()
    with monkeypatch.context() as impatient:
        impatient.setattr(replica_module, "OWN_SECONDS", 0.2)
        with pytest.raises(errors.DatabaseInUse):
            sharer.share()
    owner.close()
    sharer.share()
    owner = Catalogue(place)
    with monkeypatch.context() as impatient:
        impatient.setattr(postgres_module, "OWN_SECONDS", 0.2)
        with pytest.raises(errors.DatabaseInUse):
            owner.own()
    owner.close()
    sharer.close()


def test_an_older_version_that_runs_is_told_to_be_stopped_before_its_tables_are_changed(
    url: SecretStr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PostgresSchema(url.get_secret_value(), "catalogue")
    old = open_database(place, SCHEMA)
    with old.connect():
        pass
    for file in SCHEMA.migrations.glob("*.py"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    last = SCHEMA.versions[-1]
    (tmp_path / "9999_newer.py").write_text(
        f'from alembic import op\n\nrevision = "9999"\ndown_revision = "{last}"\n\n\n'
        'def upgrade():\n    op.execute("CREATE TABLE newer (id integer)")\n'
    )
    newer = Schema(SCHEMA.tables, tmp_path)
    with monkeypatch.context() as impatient:
        impatient.setattr(postgres_module, "OWN_SECONDS", 0.2)
        with pytest.raises(errors.OlderVersionRuns, match="still using it"):
            open_database(place, newer)
    with old.connect() as connection:
        assert connection.exec_driver_sql("SELECT to_regclass('newer')").scalar() is None
    old.dispose()
    engine = open_database(place, newer)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT to_regclass('newer')").scalar() == "newer"
    engine.dispose()
    with pytest.raises(errors.DataFolderNewer):
        open_database(place, SCHEMA)

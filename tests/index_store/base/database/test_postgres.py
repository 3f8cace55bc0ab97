"""Postgres as the database: what differs from SQLite, on a real server."""

import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr
from sqlalchemy import event, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from index_store.access.access import open_access
from index_store.base import errors
from index_store.base.database import postgres as postgres_module
from index_store.base.database.database import open_database, place_of
from index_store.base.database.postgres import SharedChanges, conninfo, driver_url
from index_store.base.settings.settings import Settings
from index_store.catalogue.schema import SCHEMA, indexes
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.backup import back_up
from index_store.transfer.backup.errors import CatalogueNotInFolder
from tests.helpers.migrated import differences
from tests.index_store.access.conftest import claim
from tests.index_store.embedding_service import EmbeddingService
from tests.servers.postgres import PASSWORD, USER, PostgresServer

ROW = {
    "id": "a", "name": "secret name", "embedding_model": "m", "dimension": 3, "collection": "c", "owner_id": None,
}  # fmt: skip


@pytest.fixture
def url(postgres: PostgresServer):
    url = postgres.new_database()
    yield SecretStr(url)
    postgres.drop(url)


def opened(url: SecretStr):
    return open_database(place_of("catalogue", Path("none"), url), SCHEMA)


def test_two_that_start_at_once_make_the_tables_once(url: SecretStr) -> None:
    engines = []
    both = [threading.Thread(target=lambda: engines.append(opened(url))) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    for engine in engines:
        with engine.connect() as connection:
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [
                SCHEMA.versions[-1]
            ]
        engine.dispose()
    assert len(engines) == 2


def test_a_new_one_has_the_tables_that_the_code_has(url: SecretStr) -> None:
    opened(url).dispose()
    assert differences(place_of("catalogue", Path("none"), url), SCHEMA) == []


def test_an_error_tells_neither_what_was_to_be_written_nor_the_password(url: SecretStr) -> None:
    engine = opened(url)
    with engine.begin() as connection:
        connection.execute(indexes.insert().values(**ROW))
    with pytest.raises(IntegrityError) as error, engine.begin() as connection:
        connection.execute(indexes.insert().values(**(ROW | {"id": "b"})))
    told = f"{error.value} {error.value.orig} {error.value.__cause__} {engine!r} {engine.url}"
    assert "unique constraint" in told
    assert not [each for each in ("secret name", PASSWORD) if each in told]
    engine.dispose()


def test_a_nul_is_kept_as_a_sign_that_takes_its_place(url: SecretStr) -> None:
    engine = opened(url)
    with engine.begin() as connection:
        connection.execute(indexes.insert().values(**(ROW | {"name": "a\0b"})))
        assert connection.execute(select(indexes.c.name)).scalar() == "a\ufffdb"
    engine.dispose()


def test_a_server_that_is_away_is_told_in_a_sentence_and_found_again_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with PostgresServer() as server:
        settings = Settings(data_dir=tmp_path / "data", database_url=server.new_database())
        with open_access(settings) as access:
            person = access.people.signed_in(claim("anna"))
            server.stop()
            for _ in range(2):
                with pytest.raises(errors.DatabaseAway, match="can't be reached") as away:
                    access.people.known(person.id)
                assert isinstance(away.value, OperationalError)
                assert "データベースに接続できません" in away.value.sentence("ja")
                assert away.value.as_failure().code == "database_away"
            with pytest.raises(errors.DatabaseAway):
                access.people.add("bert@example.com")
            with pytest.raises(errors.DatabaseAway), open_access(settings):
                pass
            server.start()
            assert access.people.known(person.id) == person
    assert PASSWORD not in caplog.text


def test_a_change_that_waited_too_long_for_the_others_fails_without_waiting_once_more(
    url: SecretStr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_module, "CHANGE_SECONDS", 1)
    engine, connections = opened(url), list[object]()
    event.listen(engine, "connect", lambda connection, _: connections.append(connection))
    with closing(SharedChanges(engine)) as mine, closing(SharedChanges(engine)) as theirs:
        with mine.held(exclusive=True):
            pass
        with theirs.held(exclusive=True):
            before = len(connections)
            with pytest.raises(OperationalError, match="lock timeout"), mine.held(exclusive=True):
                pass
            assert len(connections) == before  # a second wait would be that of a new connection
        with mine.held(exclusive=True):
            pass
    engine.dispose()


def test_locks_of_a_machine_that_loses_its_power_are_free_within_seconds(url: SecretStr) -> None:
    """Otherwise nobody could add or delete anything for two hours, which is how long TCP waits by default."""
    with closing(SharedChanges(opened(url))) as changes, changes.held(exclusive=True):
        assert changes._connection
        asked = "SELECT name, reset_val FROM pg_settings WHERE name LIKE 'tcp_keepalives_%%'"
        of_server = {name: int(value) for name, value in changes._connection.exec_driver_sql(asked)}
        driver = changes._connection.connection.dbapi_connection
        assert isinstance(driver, psycopg.Connection)
        of_app = driver.info.get_parameters()
    assert 0 < sum_of(of_server, "tcp_keepalives") <= 20
    assert 0 < sum_of(of_app, "keepalives") <= 20
    assert 0 < int(of_app["tcp_user_timeout"]) <= 20_000


def sum_of(values: Mapping[str, Any], name: str) -> int:
    """Seconds after which the other machine counts as gone."""
    idle, interval, count = (int(values.get(f"{name}_{each}", 0)) for each in ("idle", "interval", "count"))
    return idle + interval * count


def test_a_folder_and_its_database_know_each_other(tmp_path: Path, url: SecretStr, postgres: PostgresServer) -> None:
    """Otherwise, an app would delete the originals of documents that only the other database has."""
    plain, big = tmp_path / "plain", tmp_path / "big"
    other = postgres.new_database()
    with open_access(Settings(data_dir=plain)):
        pass
    with open_access(Settings(data_dir=big, database_url=url)):
        pass
    for settings, error in (
        (Settings(data_dir=plain, database_url=url), errors.CatalogueInFolder),
        (Settings(data_dir=big), errors.CatalogueInDatabase),
        (Settings(data_dir=big, database_url=other), errors.CatalogueInDatabase),
    ):
        with pytest.raises(error) as refused, open_access(settings):
            pass
        assert PASSWORD not in str(refused.value)
    with open_access(Settings(data_dir=big, database_url=url)):
        pass
    with pytest.raises(CatalogueNotInFolder, match="pg_dump"):
        back_up(big, tmp_path / "backup.zip")
    postgres.drop(other)


def test_a_second_app_on_the_same_database_is_refused_and_may_come_when_the_first_is_gone(
    tmp_path: Path, url: SecretStr, service: EmbeddingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end the runs of the first app, and would not have its vectors."""
    one, other = (
        Settings(data_dir=tmp_path / name, database_url=url, openai_base_url=service.base_url) for name in "ab"
    )
    with IndexStore(one):
        with monkeypatch.context() as impatient:
            impatient.setattr(postgres_module, "OWN_SECONDS", 0.2)
            with pytest.raises(errors.DatabaseInUse, match="Another app") as refused:
                IndexStore(other)
        assert "使用中" in refused.value.sentence("ja")
        with open_access(one):
            pass
    IndexStore(other).close()


def test_a_newer_schema_is_refused_and_stays(url: SecretStr) -> None:
    engine = opened(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(errors.DataFolderNewer, match="catalogue has version 9999") as refused:
        opened(url)
    assert PASSWORD not in str(refused.value)


def test_a_database_of_another_encoding_is_refused(postgres: PostgresServer) -> None:
    postgres.run("CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(errors.InvalidSetting, match="whose encoding is UTF8"):
        opened(SecretStr(postgres.url("ascii")))


def test_an_account_that_may_make_no_schema_is_told(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    postgres.run("DROP ROLE IF EXISTS reader")
    postgres.run(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
    with pytest.raises(errors.InvalidSetting, match="that may make schemas"):
        opened(SecretStr(url.replace(f"{USER}:", "reader:")))
    postgres.drop(url)


def test_a_database_that_refuses_is_told_with_its_reason_and_no_folder_is_called_damaged(
    tmp_path: Path, url: SecretStr, postgres: PostgresServer
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=url)
    with open_access(settings):
        pass
    plain, name = url.get_secret_value(), url.get_secret_value().partition("?")[0].rpartition("/")[2]
    postgres.run("DROP ROLE IF EXISTS stranger")
    postgres.run(f"CREATE ROLE stranger LOGIN PASSWORD '{PASSWORD}'")
    postgres.run(f"ALTER ROLE {USER} IN DATABASE {name} SET default_transaction_read_only = on")
    for address, reason in (
        (f"{plain}&schema=public", 'invalid connection option "schema"'),
        (f"{plain}&sslmode=required", 'invalid sslmode value: "required"'),
        (plain.replace(f"{USER}:", "stranger:"), "no schema has been selected|permission denied"),
        (plain, "in a read-only transaction"),
    ):
        with pytest.raises(errors.DatabaseRefuses, match=reason) as refused:
            IndexStore(settings.model_copy(update={"database_url": SecretStr(address)})).close()
        assert refused.value.as_failure().code == "database_refuses"
        assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///a",
        "postgresql://host",
        "mysql://host/a",
        "somewhere",
        "postgresql://u:p@h:x/a",
        "postgresql://u:p@ss@host/a",
    ],
)
def test_an_address_of_anything_else_is_refused_without_telling_it(url: str) -> None:
    with pytest.raises(errors.InvalidSetting, match="DATABASE_URL") as refused:
        Settings(database_url=url)
    assert url not in str(refused.value).replace("postgresql+psycopg://", "")


@pytest.mark.parametrize("sign", list("#?/[]:%"))
def test_a_password_may_have_signs_that_mean_something_in_other_addresses(sign: str) -> None:
    url = Settings(database_url=f"postgresql://u:p{sign}ss@host/a?sslmode=require").database_url
    assert url
    parts = driver_url(url.get_secret_value())
    assert (parts.password, parts.host, parts.database) == (f"p{sign}ss", "host", "a")


@pytest.mark.parametrize(
    ("address", "read"),
    [
        ("u:a%20b%2Bc@host/a", {"password": "a b+c"}),
        ("u:p@host/a%20b", {"dbname": "a b"}),
        ("u:p@host/a?sslrootcert=/etc/my%20ca.pem", {"sslrootcert": "/etc/my ca.pem"}),
        ("u:p@/a?host=one:5432&host=other:5433", {"host": "one,other", "port": "5432,5433"}),
        ("u:p@[::1]:5432/a", {"host": "::1", "port": "5432"}),
    ],
)
def test_the_connections_for_messages_and_checkpoints_read_an_address_as_the_others_do(
    address: str, read: dict[str, str]
) -> None:
    url = driver_url(f"postgresql://{address}")
    others = url.get_dialect()().create_connect_args(url)[1]
    assert conninfo_to_dict(conninfo(url)) == {name: str(value) for name, value in others.items()}
    assert read.items() <= conninfo_to_dict(conninfo(url)).items()

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.database.sqlite import SqliteFile
from index_store.base.settings.settings import Settings
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.schema import SCHEMA
from index_store.store.index_store import IndexStore
from tests.helpers.migrated import differences
from tests.index_store.first_release import FIRST


@pytest.mark.parametrize("before", ["", FIRST], ids=["new", "of the first release"])
def test_a_catalogue_has_the_same_tables_whatever_it_was_made_of(tmp_path: Path, before: str) -> None:
    file = tmp_path / "catalogue.sqlite3"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(before)
    Catalogue(SqliteFile(file)).close()
    assert differences(SqliteFile(file), SCHEMA) == []


@pytest.mark.sqlite_alone
def test_a_folder_of_a_newer_version_is_refused_and_can_be_opened_by_that_one_again(serviced: Settings) -> None:
    IndexStore(serviced).close()
    file = serviced.data_dir / "catalogue.sqlite3"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(errors.DataFolderNewer, match="9999"):
            IndexStore(serviced)
    assert file.read_bytes() == before

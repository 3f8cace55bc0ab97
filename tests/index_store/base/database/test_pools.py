"""The end of an engine while a thread still has one of its connections in use."""

from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from index_store.base.database.database import open_database, place_of
from index_store.catalogue.schema import SCHEMA


@pytest.mark.both_databases
def test_a_connection_that_comes_back_after_the_end_is_closed(tmp_path: Path, database: SecretStr | None) -> None:
    engine = open_database(place_of("catalogue", tmp_path, database), SCHEMA)
    connection = engine.connect()
    driver = connection.connection.dbapi_connection
    assert driver
    engine.dispose()
    connection.exec_driver_sql("SELECT 1")  # goes on to its end
    connection.close()
    if isinstance(driver, psycopg.Connection):
        assert driver.closed
    else:
        with pytest.raises(Exception, match="closed database"):
            driver.cursor()

from pathlib import Path

from sqlalchemy import event

from index_store.base.database.sqlite import SqliteFile
from index_store.catalogue.catalogue import Catalogue


def test_each_search_counts_the_documents_that_are_being_added_without_looking_at_the_others(tmp_path: Path) -> None:
    place = SqliteFile(tmp_path / "catalogue.sqlite3")
    catalogue = Catalogue(place)
    asked = []
    event.listen(catalogue.database, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    assert catalogue.indexes.pending("of no index") == 0
    [(statement, parameters)] = asked
    with catalogue.database.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    assert [row[-1] for row in plan] == ["SEARCH documents USING INDEX ix_documents_pending (index_id=?)"]
    catalogue.close()

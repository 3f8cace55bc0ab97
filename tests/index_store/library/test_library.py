"""The lock of a library: what may be done inside what."""

import pytest

from index_store.store.index_store import IndexStore


def test_a_change_that_locks_out_all_others_is_refused_inside_one_that_does_not(store: IndexStore) -> None:
    library = store._library
    with library.saving(), pytest.raises(RuntimeError), library.held():
        raise AssertionError("others may save now")
    with library.held(), library.saving(), library.held():
        pass

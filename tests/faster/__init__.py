"""What tests would do anew each time although it is always the same, and do once instead. Each module patches one thing
for the whole session; `pytest --unpatched` turns all of it off.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faster import chroma_tables, made_once, shared_parsers, statements


@contextmanager
def all_tests(new_folder: Callable[[str], Path]) -> Iterator[None]:
    """`new_folder`: makes a folder whose name begins like this."""
    with (
        statements.shared(),
        chroma_tables.copied(lambda: new_folder("chroma")),
        made_once.settings(),
        made_once.tables(lambda: new_folder("empty")),
        shared_parsers.shared(),
    ):
        yield

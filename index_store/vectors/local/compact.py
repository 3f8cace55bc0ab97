"""Compacts a Chroma database and prints the ids of its segments: `python -I compact.py FILE`.

It is a program of its own because Chroma has its own SQLite. If two SQLites in one process open the same file, each
releases the other's locks and the file breaks (https://sqlite.org/howtocorrupt.html, 2.2.1).
"""

import sqlite3
import sys
from contextlib import closing

LOCK_SECONDS = 30
"""seconds to wait for another writer"""


def main(file: str) -> None:
    with closing(sqlite3.connect(file, timeout=LOCK_SECONDS)) as database:
        database.execute("VACUUM")
        for (id_,) in database.execute("SELECT id FROM segments"):
            print(id_)


if __name__ == "__main__":
    main(sys.argv[1])

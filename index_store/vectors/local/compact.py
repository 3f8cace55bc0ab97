"""Compacts a database of Chroma's and prints the ids of its segments: `python -I compact.py FILE`.

A program of its own, since Chroma brings an SQLite of its own: where two of these open one file in one process, each
undoes the other's locks, and the file breaks (https://sqlite.org/howtocorrupt.html, 2.2.1).
"""

import sqlite3
import sys
from contextlib import closing

WAIT = 30
"""seconds for whoever writes at the moment"""


def main(file: str) -> None:
    with closing(sqlite3.connect(file, timeout=WAIT)) as database:
        database.execute("VACUUM")
        for (id_,) in database.execute("SELECT id FROM segments"):
            print(id_)


if __name__ == "__main__":
    main(sys.argv[1])

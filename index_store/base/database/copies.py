"""Copies of databases in a data folder: from before an upgrade, and of damaged ones."""

import time
from pathlib import Path

KEPT_DAYS = 14
"""for which a copy from before an upgrade is kept; not longer, because it holds data that was removed since"""

UPGRADED, DAMAGED = "*.version-*.sqlite3*", "*.damaged-*.sqlite3*"
"""their names, including SQLite's files next to them"""


def drop_copies(folder: Path, names: str, *, days: float) -> None:
    """Deletes the copies that are older than `days`. `names`: a pattern. Raises OSError."""
    for copy in folder.glob(names):
        if copy.stat().st_mtime < time.time() - days * 24 * 60 * 60:
            copy.unlink(missing_ok=True)

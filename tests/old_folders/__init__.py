"""Data folders that earlier versions have made."""

import tarfile
from pathlib import Path


def unpack(packed: Path, place: Path) -> None:
    """The content becomes `place / "data"`."""
    # Since Python 3.11.4, `extractall` has a filter, and later versions want one.
    filtered = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(packed) as archive:
        archive.extractall(place, **filtered)

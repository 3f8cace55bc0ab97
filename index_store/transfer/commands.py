"""The commands of `python -m index_store` that save, restore and move a data folder."""

import argparse
import time
from pathlib import Path

from index_store.base.command_line.commands import Commands, Output, names
from index_store.base.settings.settings import Settings
from index_store.store.commands import compare
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.backup import back_up
from index_store.transfer.backup.manifest import Manifest
from index_store.transfer.backup.restore import restore
from index_store.transfer.move.move import move
from index_store.transfer.move.plan import MoveTarget

PROGRESS = 2.0
"""seconds between two progress lines of a move"""


def add_to(commands: Commands) -> None:
    commands.add("backup", _backup, "save the whole data folder in one file, while the app runs").add_argument(
        "file", type=Path, metavar="FILE", help="file to create; use a name that ends in .zip"
    )
    commands.add("restore", _restore, "restore a backup into an empty data folder, and check it").add_argument(
        "file", type=Path, metavar="FILE"
    )
    commands.add(
        "move", _move, "move a data folder to the servers in the settings, or back, and check it"
    ).add_argument(
        "--to",
        required=True,
        choices=names(MoveTarget),
        help="servers: to Postgres (DATABASE_URL) and Chroma (CHROMA_URL); folder: from there back into DATA_DIR. Stop "
        "the app first. If the command is interrupted, run it again",
    )


def _backup(options: argparse.Namespace, out: Output) -> bool:
    manifest = back_up(Settings().data_dir, options.file)
    _tell(out, options.file, "saved", manifest)
    return True


def _restore(options: argparse.Namespace, out: Output) -> bool:
    settings = Settings()
    manifest = restore(options.file, settings.data_dir)
    # All that was saved is in the folder. Servers in the settings have other data.
    elsewhere = {"database_url": None, "chroma_url": None, "originals_url": None}
    with IndexStore(settings.model_copy(update=elsewhere)) as store:
        all_well = compare(store, out)
    _tell(out, options.file, "restored", manifest)
    return all_well


def _move(options: argparse.Namespace, out: Output) -> bool:
    in_use, said = move(Settings(), MoveTarget(options.to), _Progress(out).on_progress)
    with IndexStore(in_use) as store:
        all_well = compare(store, out)
    sentence = said.sentence(out.language)
    out.line({"status": "moved", "to": options.to, "checked": all_well, "said": sentence}, sentence)
    return all_well


class _Progress:
    """A line for each thing that is moved, and every few seconds for one that takes long."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._said_at = time.monotonic()

    def on_progress(self, what: str, done: int, of: int) -> None:
        if done < of and time.monotonic() - self._said_at < PROGRESS:
            return
        self._said_at = time.monotonic()
        fields = {"status": "moving", "what": what, "done": done, "of": of}
        self._out.line(fields, f"{what}  {done:,} of {of:,}")


def _tell(out: Output, file: Path, status: str, manifest: Manifest) -> None:
    fields = {"file": str(file), "status": status, "files": len(manifest.files), "bytes": manifest.size}
    out.line(fields, f"{status}  {file}  ({len(manifest.files)} files, {manifest.size:,} bytes)")

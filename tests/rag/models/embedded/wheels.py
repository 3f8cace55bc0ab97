"""Small wheels with the same structure as the model's, and a pip configuration that finds only these wheels."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from rag.models.embedded.fetch import ModelFiles

PART_SIZE = 1000


def model_files(content: bytes) -> ModelFiles:
    return ModelFiles(
        name="small.gguf",
        package="small-model-part{n}",
        version="1.0",
        member="small_model_part{n}/data/part{n:02}.bin",
        parts=-(-len(content) // PART_SIZE),
        part_size=PART_SIZE,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )


def write_wheel(folder: Path, files: ModelFiles, part: int, content: bytes) -> Path:
    name, version = files.package.format(n=part), files.version
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    wheel = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(files.member.format(n=part), content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def write_wheels(folder: Path, files: ModelFiles, content: bytes) -> None:
    for part in range(1, files.parts + 1):
        write_wheel(folder, files, part, content[(part - 1) * PART_SIZE : part * PART_SIZE])


def let_pip_see_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configures pip as an operator does for a mirror."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

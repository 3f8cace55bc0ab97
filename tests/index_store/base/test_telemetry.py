"""Libraries that would tell their makers that they are used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

IMPORTERS = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for package in ("index_store", "rag", "pages")
    for file in sorted((ROOT / package).rglob("*.py"))
    if "import openvino" in file.read_text(encoding="utf-8")
]


def test_both_embedded_models_are_computed_by_openvino() -> None:
    """Else the next test would look at nothing."""
    assert {"index_store.vectors.embedded.encoder", "rag.models.embedded.engines.qwen2.network"} < set(IMPORTERS)


@pytest.mark.parametrize("module", IMPORTERS)
def test_openvino_tells_nobody_that_it_is_used(module: str, tmp_path: Path) -> None:
    importing = f"import sys; import {module}; print(sys.modules['openvino_telemetry'])"
    # If CI is set, it sends nothing anyway.
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"HOME": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", importing], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert told.stdout.decode().strip() == "None"
    assert list(tmp_path.iterdir()) == []

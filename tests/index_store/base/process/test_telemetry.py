"""Libraries that would tell their makers that they are used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

IMPORTERS = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for package in ("index_store", "rag", "pages")
    for file in (ROOT / package).rglob("*.py")
    if "import openvino" in file.read_text(encoding="utf-8")
)
PACKAGES = {
    package: [module for module in IMPORTERS if module.rpartition(".")[0] == package]
    for package in sorted({module.rpartition(".")[0] for module in IMPORTERS})
}
"""package -> its modules that import OpenVINO; Python runs the package before each of them"""


def test_both_embedded_models_are_computed_by_openvino() -> None:
    """Else the next test would look at nothing."""
    assert {"index_store.vectors.embedded.encoder", "rag.models.embedded.engines.qwen2.network"} < set(IMPORTERS)


@pytest.mark.parametrize("package", PACKAGES)
def test_openvino_tells_nobody_that_it_is_used(package: str, tmp_path: Path) -> None:
    silenced = f"import sys; import {package}; print('openvino' in sys.modules, sys.modules['openvino_telemetry'])"
    importing = f"import {', '.join(PACKAGES[package])}; print('openvino' in sys.modules)"
    command = [sys.executable, "-c", f"{silenced}\n{importing}"]
    # If CI is set, it sends nothing anyway.
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"HOME": str(tmp_path)}
    told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "None", "True"]
    assert list(tmp_path.iterdir()) == []

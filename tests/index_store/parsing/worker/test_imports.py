"""A process of the parser does not import the database or clients of services."""

import subprocess
import sys

from tests.conftest import ROOT


def test_a_parsers_process_loads_no_database_and_no_client():
    code = "import sys, index_store.parsing.worker.worker; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "index_store.parsing.chunking.chunker" in loaded
    assert not {"sqlalchemy", "chromadb", "httpx", "numpy", "index_store.store.index_store"} & set(loaded)

"""The package's own door: its names are there, and who needs few of its rooms opens few."""

import subprocess
import sys

import pytest

import index_store
from tests.conftest import ROOT


@pytest.mark.parametrize("name", index_store.__all__)
def test_what_it_offers_is_there(name):
    assert getattr(index_store, name) is not None


def test_what_it_does_not_have_is_told_as_any_module_does():
    with pytest.raises(AttributeError, match=r"no attribute .Vectors"):
        _ = index_store.Vectors


def test_a_parsers_process_loads_no_database_and_no_client():
    code = "import sys, index_store.loaders.worker; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "index_store.split" in loaded
    assert not {"sqlalchemy", "chromadb", "httpx", "numpy", "index_store.store"} & set(loaded)

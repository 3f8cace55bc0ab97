"""What a test of a page does at its start is done once: without this, each test reads the metadata of all installed
packages for 0.3 s to look for components, and compiles the pages for another 0.1 s.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache


@contextmanager
def shared() -> Iterator[None]:
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(ScriptCache, "get_bytecode", compiled.get_bytecode)
        yield

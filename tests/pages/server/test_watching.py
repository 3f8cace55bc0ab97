import subprocess
import sys

from tests.conftest import ROOT

SCRIPT = """
from types import SimpleNamespace

import app
from streamlit.watcher import local_sources_watcher
from streamlit.watcher.local_sources_watcher import LocalSourcesWatcher

looked_up = []
local_sources_watcher.get_module_paths = lambda module: looked_up.append(module) or set()
watcher = LocalSourcesWatcher(SimpleNamespace(get_pages=dict, main_script_path="app.py"))
watcher.update_watched_modules()
print(len(looked_up))
"""


def test_an_opened_page_does_not_look_up_the_files_of_all_modules() -> None:
    """It takes 0.1 to 0.2 s of the event loop."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0"], done.stderr

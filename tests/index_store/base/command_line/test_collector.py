import gc
import subprocess
import sys
from importlib import import_module

import pytest

from index_store.base.command_line.collector import leave, resting


def test_the_collector_rests_while_modules_are_loaded_also_if_that_fails() -> None:
    def load() -> None:
        with resting():
            assert not gc.isenabled()
            import_module("no_such_module")

    with pytest.raises(ImportError):
        load()
    assert gc.isenabled()


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_ends_with_its_status_and_its_output_and_what_was_registered_for_the_end(status: int) -> None:
    script = (
        "import atexit; from index_store.base.command_line.collector import leave; atexit.register(print, 'closed'); "
        f"print('said'); leave({status})"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (status, "said\nclosed\n")


def test_leaving_never_returns() -> None:
    with pytest.raises(SystemExit):
        leave(0)

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


def minds_interrupts() -> None:
    """Otherwise a process that a test in the background begins would inherit that it ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    "command",
    [("index_store", "list"), pytest.param(("rag", "pipelines"), marks=pytest.mark.soak)],
    ids=lambda each: each[0],
)
def test_ctrl_c_while_a_command_loads_its_modules_ends_it_without_a_traceback(command: tuple[str, str]) -> None:
    # In a small pipe, it can't load all its modules before this test has read that it begins.
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT, preexec_fn=minds_interrupts,
        pipesize=4096,
    ) as loading:  # fmt: skip
        assert loading.stderr
        assert any("sqlalchemy" in line for line in loading.stderr)
        loading.send_signal(signal.SIGINT)
        told = loading.stderr.read()
    assert (loading.returncode, "Traceback" in told) == (130, False)

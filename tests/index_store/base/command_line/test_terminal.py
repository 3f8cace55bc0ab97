"""What is written to a terminal neither commands it nor looks like something else."""

import os
import subprocess
import sys

import pytest

from index_store.base.command_line.terminal import for_terminal, for_terminal_as_json


@pytest.mark.parametrize(
    "command",
    [
        "from index_store.commands import main; main(['people', 'list'])",
        pytest.param("from rag.commands import main; main(['pipelines'])", marks=pytest.mark.soak),
    ],
)
def test_a_name_in_the_log_of_a_command_gives_the_terminal_no_command_and_forges_no_entry(command, tmp_path):
    name = "a\x1b]0;b\x07\x9b2J\nThe app was stopped\tc.txt"
    script = f"import logging; {command}; logging.getLogger('ingestion').warning('%s is broken', {name!r})"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "DATA_DIR": str(tmp_path)}, capture_output=True, check=True,
        encoding="utf-8",
    )  # fmt: skip
    assert done.stderr.endswith("a\ufffd]0;b\ufffd\ufffd2J\n    The app was stopped\tc.txt is broken\n")


def test_a_name_that_turns_the_text_after_it_is_shown_with_a_sign_in_its_place_and_kept_in_json():
    assert for_terminal("規程\u202egpj.exe (\u2067a\u2069)") == "規程\ufffdgpj.exe (\ufffda\ufffd)"
    assert for_terminal_as_json('"a\u202eb"') == '"a\\u202eb"'

import json
import os
import re
import subprocess
import sys

from tests.conftest import ROOT
from tests.servers import OpenAIServer

YES = json.dumps({"reason": "It says so.", "verdict": "yes", "score": 0.9})


def test_each_wait_of_a_new_user_is_timed_beside_that_with_an_earlier_version(tmp_path):
    word = tmp_path / "long.md"
    word.write_text("# Trains\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    with OpenAIServer() as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-test",
            "EMBEDDING_MODEL": "test-embedding",
        }
        command = [sys.executable, "-m", "benchmarks.first_minutes", "--before", ROOT, "--word", word, "--rounds", "1"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| .+ \| \d+\.\d \| \d+\.\d \| \d+\.\d\d \|$", done.stdout, re.MULTILINE)
    assert len(rows) == 3

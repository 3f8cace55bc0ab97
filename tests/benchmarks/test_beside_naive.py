import json
import os
import re
import subprocess
import sys

from tests.conftest import ROOT
from tests.servers import OpenAIServer

YES = json.dumps({"reason": "It says so.", "verdict": "yes", "score": 0.9})


def test_a_pipeline_is_timed_beside_naive_question_by_question():
    with OpenAIServer() as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-test",
            "CHAT_MODEL": "test-chat",
            "EMBEDDING_MODEL": "test-embedding",
        }
        command = [sys.executable, "-m", "benchmarks.beside_naive", "--questions", "2"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| .+ \| (\d+\.\d) \| (\d+\.\d) \| \d+\.\d\d \|$", done.stdout, re.MULTILINE)
    assert len(rows) == 2
    assert re.search(r"^self_rag takes \d+\.\d\d times as long as naive; at most 2\.5\.$", done.stdout, re.MULTILINE)

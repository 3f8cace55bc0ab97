import json
import re
from pathlib import Path

import pytest

from benchmarks import refusal
from tests.servers.chat import ChatRequest

HOLDS = "日当は1日2,500円です。"
LACKS = "日当は出張の後に精算します。"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    row = {
        "question": "日当はいくらですか。",
        "answers": ["2500円"],
        "noise_passages": [LACKS],
        "positive_passages": [HOLDS],
    }
    asked = [("Who pays?", [{"text": "The king"}]), ("Who is the king?", [])]
    files = {
        "rejection/ja.jsonl": [row],
        "qa/squad2/paragraphs.jsonl": [{"text": "The company pays."}],
        "qa/squad2/questions.jsonl": [
            {"question": each, "answerable": bool(answers), "answers": answers} for each, answers in asked
        ],
    }
    for name, rows in files.items():
        file = tmp_path / "shared" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in rows), encoding="utf-8")
    return tmp_path / "shared"


def answer(request: ChatRequest) -> str:
    """A model that answers if the passages contain the answer, and otherwise replies as the prompts demand."""
    holds = HOLDS in request.prompt or "Who pays?" in request.prompt
    return f"{HOLDS}[1]" if holds else "NOT_IN_PASSAGES"


@pytest.mark.soak
def test_refusals_are_counted_where_the_passages_hold_the_answer_and_where_they_do_not(printed, server, data):
    server.default = answer
    out = printed(refusal, "--data", data, "--pipeline", "naive", "--only", "ja", "squad2")
    assert re.findall(r"^# naive, (\w+), ([a-z ]+): refused (\d+)% of 1; right (\d+)%;", out, re.MULTILINE) == [
        ("ja", "not answerable", "100", "0"),
        ("ja", "answerable", "0", "100"),
        ("squad2", "answerable", "0", "0"),
        ("squad2", "not answerable", "100", "0"),
    ]

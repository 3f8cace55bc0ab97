"""Both engines give the real model's grades: the thresholds of the grades hold for both."""

import asyncio
from pathlib import Path

import pytest

from rag.models.calls.usage import Usage, tokens_of
from rag.models.embedded.engines import choice
from rag.models.embedded.grading import grounding, relevance, usefulness
from rag.models.embedded.log_odds import TOP, YesNoQuestion
from rag.models.embedded.process import EmbeddedServer
from rag.models.embedded.source import EmbeddedSource
from rag.settings import EMBEDDED, Settings
from tests.rag.models.embedded.engines.served import Served
from tests.rag.models.embedded.work_rules import LEAVE, PASSAGES, QUESTION

ENGLISH = "How many days of leave do new staff have after six months?"
ASKED = (
    *(relevance(QUESTION, each) for each in PASSAGES),
    relevance(ENGLISH, PASSAGES[1]),
    grounding(QUESTION, "1,250円です。", PASSAGES),
    grounding(QUESTION, "2,500円です。", PASSAGES),
    usefulness(QUESTION, LEAVE),
    usefulness(ENGLISH, "Ten days."),
)


def log_odds(server: EmbeddedServer, model: Path, folder: Path) -> list[float]:
    async def all_of_them() -> list[float]:
        source = EmbeddedSource(Settings(data_dir=folder, chat_model=EMBEDDED, embedded_model=model))
        source._server = server
        try:
            return [await one(source, each) for each in ASKED]
        finally:
            await source.close()

    async def one(source: EmbeddedSource, asked: YesNoQuestion) -> float:
        options = {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
        message = await source.open().client.ask(asked.prompt, Usage(), **options)
        return asked.grade(tokens_of(message)).explanation.total

    return asyncio.run(all_of_them())


@pytest.mark.embedded
def test_the_graph_and_llama_cpp_give_the_same_grades(embedded_model: Path, tmp_path: Path) -> None:
    if not choice.command(embedded_model)[0].endswith("qwen2"):
        pytest.skip("`make model` has not prepared the graph")
    servers = [Served(embedded_model, tmp_path / "log") for _ in range(2)]
    servers[1].engine = "llama_cpp"
    ours, theirs = (log_odds(server, embedded_model, tmp_path) for server in servers)
    assert ours == pytest.approx(theirs, abs=0.5)
    assert max(ours) - min(ours) > 3

"""How long each pipeline takes with a server of fixed speed, compared with Self-RAG as published.

    python -m benchmarks.latency [--rounds 5]

The published Self-RAG makes one call after another. The server runs in another process and takes the same time for
every call. All else is real: the client, the engine with its history, embedded embeddings, Chroma. Not measured: the
page, which shows news when it refreshes. The engine's own part is the time of a run without two things: the calls that
must wait for each other, at the server's own time, and the embedding of the question, which is also a call of a model.
"""

import argparse
import http.client
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from benchmarks.parts.child import serving
from benchmarks.parts.fixed_speed import Speed, serve
from benchmarks.parts.machine import Machine
from index_store.access.gate import as_local
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.store.user_store import UserStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embeddings import Vectors
from pages import samples
from rag.models.calls.prompt import Prompt
from rag.models.replies import RelevanceReply
from rag.models.service import prompts as service
from rag.pipelines import PIPELINES
from rag.runs.engine import Engine, UserEngine
from rag.settings import Settings
from rag.text.language import language_of
from rag.trace.events import Style, Token
from rag.trace.passages import Passage, Retrieval

QUESTION = "How many characters must a company password have at least?"
MODEL = "fixed-speed"
KEY = "sk-benchmark"

SERVER = "the server alone"
SERIAL = "serial Self-RAG"
SERIAL_CORRECTIVE = "serial corrective"

MANY = 10
"""passages, instead of the pipeline's default"""
OVER_MANY = f", {MANY} passages"

CHAINS = {
    "naive": 1,
    "multivector": 1,
    "hybrid": 2,
    "self_rag": 2,
    "self_rag_candidates": 3,
    "corrective": 1,
    "adaptive": 3,
}
"""calls of a run that must wait for each other, if every grade is good. A speculative answer is written while passages
are graded, then both checks run at the same time. A candidate is written and then checked, after documents are found to
be needed. A pipeline that is not here is timed too, without the engine's own part"""
MOST_OWN = 0.05
"""largest part of a run that may be the engine's own"""


@dataclass(frozen=True)
class Timing:
    """Times of one question, or medians of several."""

    calls: int
    first: float
    """seconds until the first piece of the answer can be shown"""
    total: float
    """seconds"""
    embedding: float = 0.0
    """seconds of `total` for embedding the question; not measured in the serial flows"""


class TimedEmbeddings(EmbeddedEmbeddings):
    """Records how long embedding the questions took."""

    seconds = 0.0

    def query(self, text: str) -> Vectors:
        begun = time.perf_counter()
        vector = super().query(text)
        self.seconds += time.perf_counter() - begun
        return vector


@dataclass(frozen=True)
class Target:
    """The largest allowed ratio of two totals, or of two first tokens."""

    ours: str
    theirs: str
    part: str
    """name of the field of Timing"""
    most: float


TARGETS = (
    Target("self_rag", SERIAL, "total", 0.45),
    Target("self_rag", SERIAL, "first", 0.15),
    Target("self_rag" + OVER_MANY, SERIAL + OVER_MANY, "total", 0.30),
    Target("corrective", SERIAL_CORRECTIVE, "total", 0.50),
    Target("corrective", SERIAL_CORRECTIVE, "first", 0.20),
    Target("naive", SERVER, "total", 1.05),
    Target("multivector", SERVER, "total", 1.05),
    Target("hybrid", SERVER, "total", 2.10),  # two calls in a row: the first gives the search its words
)


def ask_server(base_url: str) -> Timing:
    """One streamed call, read as bytes, with nothing else: the server's own time."""
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(address.netloc)
    body = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    begun = time.perf_counter()
    connection.request("POST", f"{address.path}/chat/completions", json.dumps(body))
    response = connection.getresponse()
    response.readline()
    first = time.perf_counter() - begun
    response.read()
    total = time.perf_counter() - begun
    connection.close()
    return Timing(1, first, total)


def ask_serially(store: UserStore, model: ChatOpenAI, k: int) -> Timing:
    """Self-RAG in the published order: each passage graded, the answer, grounding, usefulness.

    It uses the prompts, the store and the client of the pipelines, so that only the flow differs. The answer is
    streamed, unlike in the published one. Source: `langgraph_self_rag.ipynb` of LangGraph's tutorials.
    """
    begun = time.perf_counter()
    grader = model.with_structured_output(RelevanceReply)
    calls = 0

    def says_yes(prompt: Prompt) -> bool:
        nonlocal calls
        calls += 1
        return grader.invoke(prompt).verdict == "yes"

    hits = store.search(samples.INDEX, QUESTION, k=k)
    passages = [Passage(number=hit.rank, **hit.model_dump(exclude={"chunk_id"})) for hit in hits]
    relevant = [passage for passage in passages if says_yes(service.relevance(QUESTION, passage))]
    answer, first = "", None
    for chunk in model.stream(service.answer(QUESTION, relevant, language_of(QUESTION), Style())):
        if chunk.text and first is None:
            first = time.perf_counter() - begun
        answer += chunk.text
    if says_yes(service.grounding(QUESTION, answer, relevant)) and says_yes(service.usefulness(QUESTION, answer)):
        return Timing(calls + 1, first, time.perf_counter() - begun)
    raise RuntimeError("the server refused its own answer")


def ask_corrective_serially(store: UserStore, model: ChatOpenAI) -> Timing:
    """Corrective RAG in the published order, if the documents are enough: each passage graded, then the answer.

    Source: `langgraph_crag.ipynb` of LangGraph's tutorials. It refines nothing, so it makes no call for that.
    """
    begun = time.perf_counter()
    grader = model.with_structured_output(RelevanceReply)
    hits = store.search(samples.INDEX, QUESTION)
    passages = [Passage(number=hit.rank, **hit.model_dump(exclude={"chunk_id"})) for hit in hits]
    grades = [grader.invoke(service.relevance(QUESTION, passage)) for passage in passages]
    relevant = [passage for passage, grade in zip(passages, grades, strict=True) if grade.verdict == "yes"]
    first = None
    for chunk in model.stream(service.answer(QUESTION, relevant, language_of(QUESTION), Style())):
        if chunk.text and first is None:
            first = time.perf_counter() - begun
    return Timing(len(grades) + 1, first, time.perf_counter() - begun)


def ask_engine(engine: UserEngine, embeddings: TimedEmbeddings, pipeline: str, k: int | None = None) -> Timing:
    """Asks as the page does: starts a run from this thread and reads its events as they come."""
    retrieval = Retrieval(k=k) if k else None
    embeddings.seconds = 0.0
    begun = time.perf_counter()
    run = engine.ask(QUESTION, index=samples.INDEX, pipeline_name=pipeline, retrieval=retrieval)
    first = None
    for event in run.stream():
        if first is None and isinstance(event, Token) and event.text:
            first = time.perf_counter() - begun
    total = time.perf_counter() - begun
    finished = run.result()
    if finished.status != "finished" or first is None:
        raise RuntimeError(f"{pipeline}: {finished.status}, {finished.error}")
    return Timing(finished.totals.model_calls, first, total, embeddings.seconds)


def in_a_thread(ask: Callable[..., Timing], *given: object) -> Timing:
    """Runs `ask` in a thread that ends. The embedding model keeps OpenMP threads for every thread that calls it. Those
    of the serial flow would change the time of the engine's own searches; the app has no such threads.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(ask, *given).result()


def measure(asked: Mapping[str, Callable[[], Timing]], rounds: int) -> dict[str, Timing]:
    """Medians over rounds in which they take turns. A first round, which also opens files and connections, is not
    counted.
    """
    timings: dict[str, list[Timing]] = {name: [] for name in asked}
    for _ in range(rounds + 1):
        for name, ask in asked.items():
            timings[name].append(ask())
    return {
        name: Timing(
            calls=measured[-1].calls,
            first=statistics.median(each.first for each in measured[1:]),
            total=statistics.median(each.total for each in measured[1:]),
            embedding=statistics.median(each.embedding for each in measured[1:]),
        )
        for name, measured in timings.items()
    }


def compare(speed: Speed, documents: int, rounds: int) -> dict[str, Timing]:
    with tempfile.TemporaryDirectory() as folder, serving(serve, speed) as base_url:
        settings = Settings(
            _env_file=None,
            data_dir=Path(folder),
            openai_base_url=base_url,
            openai_api_key=SecretStr(KEY),
            chat_model=MODEL,
            embedding_model="embedded",
            web_search="off",
        )
        model = ChatOpenAI(model=MODEL, base_url=base_url, api_key=settings.openai_api_key, temperature=0)
        embeddings = TimedEmbeddings()
        with Engine(settings, store=IndexStore(settings, embeddings)) as process:
            engine = process.as_user(as_local)
            engine.store.ingest(samples.INDEX, [FileSource(path) for path in samples.documents()[:documents]]).wait()
            pipelines = {name: partial(ask_engine, engine, embeddings, name) for name in PIPELINES}
            serial = partial(in_a_thread, ask_serially, engine.store, model)
            corrective = partial(in_a_thread, ask_corrective_serially, engine.store, model)
            asked = {
                SERVER: partial(ask_server, base_url),
                SERIAL: partial(serial, Retrieval().k),
                SERIAL + OVER_MANY: partial(serial, MANY),
                SERIAL_CORRECTIVE: corrective,
                **pipelines,
                "self_rag" + OVER_MANY: partial(ask_engine, engine, embeddings, "self_rag", MANY),
            }
            return measure(asked, rounds)


def report(timings: Mapping[str, Timing]) -> str:
    lines = ["| | model calls | first token, s | in all, s | embedding, s | the engine's own |"]
    lines += ["|---|--:|--:|--:|--:|--:|"]
    lines += [
        f"| {name} | {each.calls} | {each.first:.3f} | {each.total:.3f} | {each.embedding:.3f} | {own(name, timings)} |"
        for name, each in timings.items()
    ]
    lines += ["", "| ratio | measured | at most | |", "|---|--:|--:|---|"]
    for target in TARGETS:
        ratio = getattr(timings[target.ours], target.part) / getattr(timings[target.theirs], target.part)
        part = {"total": "in all", "first": "to the first token"}[target.part]
        met = "met" if ratio <= target.most else "missed"
        lines.append(f"| {target.ours} to {target.theirs}, {part} | {ratio:.3f} | {target.most:.2f} | {met} |")
    lines += ["", f"The engine's own share may be at most {MOST_OWN:.0%}."]
    return "\n".join(lines)


def own(name: str, timings: Mapping[str, Timing]) -> str:
    """The part of a pipeline's time that is not a model call; empty for timings without a chain."""
    chain = CHAINS.get(name.removesuffix(OVER_MANY))
    if chain is None:
        return ""
    timing = timings[name]
    share = 1 - (chain * timings[SERVER].total + timing.embedding) / timing.total
    return f"{share:.1%}{' missed' if share > MOST_OWN else ''}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times each pipeline against a server of fixed speed.")
    Speed.add_options(parser, Speed(delay=0.3, token_seconds=0.01, tokens=60))
    parser.add_argument("--documents", type=int, default=4, help="of the sample handbook, in the index")
    parser.add_argument("--rounds", type=int, default=5, help="of which the medians are taken")
    options = parser.parse_args(arguments)
    os.environ["NO_PROXY"] = "127.0.0.1"
    machine = Machine()
    speed = Speed.of(options)
    timings = compare(speed, options.documents, options.rounds)
    print(report(timings))
    print(f"\nMedians, rounds: {options.rounds}. {speed} Documents: {options.documents}. {machine}")


if __name__ == "__main__":
    main()

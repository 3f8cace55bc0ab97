"""The server, over HTTP, with a tiny model; and that llama.cpp says the same of it."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from rag.models.embedded.engines.child import CONTEXT
from rag.models.embedded.errors import ModelDidNotStart
from tests.rag.models.embedded.engines.served import Served

QUESTION = "What is the thing in a tin?"


def served(model: Path, engine: str, folder: Path) -> Iterator[httpx.Client]:
    server = Served(model, folder / f"{engine}.log")
    server.engine = engine
    endpoint = server.start()
    headers = {"Authorization": f"Bearer {endpoint.api_key}"}
    with httpx.Client(base_url=f"{endpoint.base_url}/", headers=headers, timeout=60, trust_env=False) as client:
        yield client
    server.stop()


@pytest.fixture(scope="module")
def graph(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    yield from served(tiny_model, "qwen2", tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def llama_cpp(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    yield from served(tiny_model, "llama_cpp", tmp_path_factory.mktemp("logs"))


def asked(client: httpx.Client, text: str = QUESTION, **options: object) -> httpx.Response:
    messages = [{"role": "system", "content": "Answer."}, {"role": "user", "content": text}]
    return client.post("chat/completions", json={"messages": messages, "temperature": 0, "max_tokens": 8, **options})


def events(reply: httpx.Response) -> list[dict]:
    lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def likeliest(client: httpx.Client, text: str) -> tuple[int, list[float]]:
    """The number of tokens of the prompt, and the log-probabilities of what may follow."""
    reply = asked(client, text, max_tokens=1, logprobs=True, top_logprobs=10).json()
    [token] = reply["choices"][0]["logprobs"]["content"]
    return reply["usage"]["prompt_tokens"], sorted(each["logprob"] for each in token["top_logprobs"])


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        "the\r\n\r\n  the   end\t\n \n",
        "It's 12,345.67 yen, isn't it? I'LL they've",
        "日本語のテスト。ｶﾀｶﾅ、①②③、髙﨑。あのね😀👨\u200d👩\u200d👧",
        "Ünïcödé e\u0301 ﷺ \u200b\ufeff \u00a0end",
        "x " * 900,
    ],
    ids=["plain", "spaces", "numbers", "japanese", "marks", "long"],
)
def test_llama_cpp_reads_the_same_tokens_and_expects_the_same_to_follow(graph, llama_cpp, text: str) -> None:
    (ours, likely), (theirs, expected) = likeliest(graph, text), likeliest(llama_cpp, text)
    assert ours == theirs
    assert likely == pytest.approx(expected, abs=0.25)


def test_a_reply_has_its_text_its_tokens_and_what_it_cost(graph: httpx.Client) -> None:
    reply = asked(graph, logprobs=True, top_logprobs=2).json()
    [choice] = reply["choices"]
    tokens = choice["logprobs"]["content"]
    assert choice["finish_reason"] == "length"
    assert b"".join(bytes(each["bytes"]) for each in tokens).decode("utf-8", "replace") == choice["message"]["content"]
    assert all(each["top_logprobs"][0]["logprob"] == each["logprob"] for each in tokens)
    assert all(len(each["top_logprobs"]) == 2 for each in tokens)
    used = reply["usage"]
    assert used["completion_tokens"] == len(tokens) == 8
    assert used["total_tokens"] == used["prompt_tokens"] + 8


def test_a_stream_has_the_same_text_in_pieces(graph: httpx.Client) -> None:
    whole = asked(graph).json()
    streamed = events(asked(graph, stream=True, stream_options={"include_usage": True}, logprobs=True, top_logprobs=1))
    pieces = [choice for event in streamed for choice in event["choices"]]
    assert "".join(each["delta"].get("content", "") for each in pieces) == whole["choices"][0]["message"]["content"]
    assert sum(len(each["logprobs"]["content"]) for each in pieces if each["logprobs"]) == 8
    assert [each["finish_reason"] for each in pieces][-1] == "length"
    assert streamed[-1]["usage"] == whole["usage"]
    assert {event["object"] for event in streamed} == {"chat.completion.chunk"}


def test_without_being_asked_it_tells_neither_probabilities_nor_the_cost_of_a_stream(graph: httpx.Client) -> None:
    assert asked(graph).json()["choices"][0]["logprobs"] is None
    assert not any("usage" in event for event in events(asked(graph, stream=True)))


def test_text_may_come_in_parts_and_the_limit_under_its_new_name(graph: httpx.Client) -> None:
    messages = [
        {"role": "developer", "content": "Answer."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    body = {"messages": messages, "max_completion_tokens": 8, "temperature": 0, "model": "any", "n": 1}
    assert graph.post("chat/completions", json=body).json()["choices"] == asked(graph).json()["choices"]


def test_a_reply_ends_where_the_context_ends(graph: httpx.Client) -> None:
    reply = asked(graph, "x" * (CONTEXT - 60), max_tokens=None).json()
    assert reply["usage"]["total_tokens"] == CONTEXT
    assert reply["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[]", "object"),
        (b'{"messages": []}', "messages"),
        (b'{"messages": [{"role": "wizard", "content": "x"}]}', "role"),
        (b'{"messages": [{"role": "user", "content": "x"}], "temperature": -1}', "temperature"),
        (b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}', "max_tokens"),
        (b'{"messages": [{"role": "user", "content": "x"}], "top_logprobs": 21}', "top_logprobs"),
    ],
)
def test_a_request_that_cannot_be_understood_is_refused(graph: httpx.Client, body: bytes, said: str) -> None:
    reply = graph.post("chat/completions", content=body)
    assert reply.status_code == 400
    assert said in reply.json()["error"]["message"]


def test_a_prompt_that_is_too_long_is_refused_with_both_lengths(graph: httpx.Client) -> None:
    reply = asked(graph, "x" * CONTEXT)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert error["code"] == "context_length_exceeded"
    assert str(CONTEXT) in error["message"]


def test_only_who_has_the_key_is_answered(graph: httpx.Client) -> None:
    assert graph.get("models").json()["data"][0]["id"] == "tiny"
    for key in ("", "Bearer", "Bearer guessed", "Bearer schlüssel"):
        headers = {"Authorization": key.encode()}
        assert graph.get("models", headers=headers).status_code == 401
        assert graph.post("chat/completions", headers=headers, json={}).status_code == 401


def test_replies_asked_at_once_are_those_asked_one_after_another(graph: httpx.Client) -> None:
    texts = [f"{number} things" for number in range(8)]
    alone = [asked(graph, text).json()["choices"] for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = [reply.json()["choices"] for reply in pool.map(lambda text: asked(graph, text), texts)]
    assert together == alone


def test_without_a_graph_it_ends_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "none.gguf").touch()
    server = Served(tmp_path / "none.gguf", tmp_path / "log")
    with pytest.raises(ModelDidNotStart):
        server.start()
    assert "rag.models.embedded.fetch" in (tmp_path / "log").read_text()

import ssl
from collections.abc import Callable
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.ingestion.results import IngestStatus
from index_store.store.index_store import IndexStore
from index_store.vectors.registry import make_embeddings
from tests.servers import Fault, OpenAIServer, Refusal
from tests.servers.certified import CertifiedHost
from tests.servers.embeddings import embed
from tests.servers.openai_server import EMBEDDINGS

KEY = "sk-test-secret-1234"


def store_of(server: OpenAIServer, data: Path, **more: object) -> IndexStore:
    values = {
        "openai_base_url": server.base_url,
        "openai_api_key": KEY,
        "embedding_model": "test-embedding",
        "model_retries": 0,
    }
    return IndexStore(Settings(data_dir=data, **{**values, **more}))


def test_a_service_makes_the_vectors_when_one_is_set(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer(key=KEY) as server, store_of(server, data_dir) as store:
        assert store.add("a", handbook).status is IngestStatus.READY
        assert "2,500" in store.search("a", "日当は1日いくら", k=1)[0].text
        index = store.indexes()[0]
        assert (index.embedding_model, index.dimension) == ("test-embedding", 256)


def test_a_certificate_that_cannot_be_verified_is_told_with_the_setting_that_helps(
    data_dir: Path, tmp_path: Path
) -> None:
    host = CertifiedHost(tmp_path)  # its authority is unknown, like that of a company
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(host.certificate, host.key)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = Thread(target=server.serve_forever)
        serving.start()
        settings = Settings(
            data_dir=data_dir, openai_base_url=f"https://127.0.0.1:{server.server_port}/v1", model_retries=0
        )
        try:
            with closing(make_embeddings(settings)) as embeddings, pytest.raises(errors.ServiceUntrusted) as caught:
                embeddings.query("?")
        finally:
            server.shutdown()
            serving.join()
    for language in ("en", "ja"):
        assert "SSL_CERT_FILE" in caught.value.sentence(language)


def test_a_server_without_keys_needs_its_address_alone(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server, store_of(server, data_dir, openai_api_key="") as store:
        assert store.add("a", handbook).status is IngestStatus.READY


def test_the_query_of_an_address_is_sent_with_each_call(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server:
        server.routes[("POST", f"{EMBEDDINGS}?api-version=2024-10-21")] = server.routes.pop(("POST", EMBEDDINGS))
        with store_of(server, data_dir, openai_base_url=f"{server.base_url}/?api-version=2024-10-21") as store:
            assert store.add("a", handbook).status is IngestStatus.READY


def test_a_store_that_is_closed_leaves_its_service(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server:
        store = store_of(server, data_dir)
        assert store.add("a", handbook).status is IngestStatus.READY
        store.close()
        server.wait_for_clients_to_leave()


REFUSALS: list[tuple[Refusal | Fault, str]] = [
    (Refusal(401), "key_refused"),
    (Refusal(403), "key_refused"),
    (Refusal(404), "model_unknown"),
    (Refusal(400), "request_refused"),
    (Refusal(429), "service_busy"),
    (Refusal(429, code="insufficient_quota"), "quota_used_up"),
    (Refusal(500), "service_failed"),
    (Fault.CLOSES, "service_unreachable"),
    (Fault.MALFORMED, "answer_unreadable"),
]


def test_what_a_service_says_no_with_is_put_in_plain_words(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        store.add("a", handbook)
        before = handbook.read_text()
        said = []
        for what, _ in REFUSALS:
            server.fails(what)
            said.append((what, what_is_said(store, handbook)))
            server.recovers()
            assert store.search("a", "日当", k=1)[0].text in before  # the earlier version is still there
        assert said == REFUSALS


def test_a_service_that_says_nothing_is_put_in_plain_words_too(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server:
        with store_of(server, data_dir) as store:
            store.add("a", handbook)
        before = handbook.read_text()
        server.fails(Fault.HANGS)
        with store_of(server, data_dir, model_timeout=1) as store:  # only here: an answer that comes may take longer
            assert what_is_said(store, handbook) == "service_timed_out"
        server.recovers()
        with store_of(server, data_dir) as store:
            assert store.search("a", "日当", k=1)[0].text in before


def what_is_said(store: IndexStore, handbook: Path) -> str:
    """The code of the error with which another version of the handbook fails."""
    handbook.write_text("# Another\n\nversion\n")
    added = store.add("a", handbook)
    assert added.error
    assert "127.0.0.1" in added.error.en
    assert "127.0.0.1" in added.error.ja
    assert KEY not in added.model_dump_json()
    return added.error.code


def embeds_as(server: OpenAIServer, data_of: Callable[[list[str]], list[object]]) -> None:
    """The service answers with these data for the texts of a call."""
    server.routes["POST", EMBEDDINGS] = lambda request, connection, fault: connection.send_json(
        HTTPStatus.OK, {"data": data_of(request.body["input"])}, fault=fault
    )


def test_vectors_that_come_in_another_order_belong_to_the_texts_whose_numbers_they_have(
    data_dir: Path, handbook: Path
) -> None:
    handbook.write_text("# 出張\n\n日当は1日2,500円です。\n\n# VPN\n\nIt is HazeGate.\n\n# 休暇\n\n年休は20日です。\n")
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        embeds_as(server, lambda texts: [{"index": n, "embedding": embed(text)} for n, text in enumerate(texts)][::-1])
        assert store.add("a", handbook).status is IngestStatus.READY
        assert "2,500" in store.search("a", "日当は1日2,500円", k=1)[0].text
        assert "20日" in store.search("a", "年休は20日", k=1)[0].text


def test_vectors_without_numbers_belong_to_the_texts_in_their_order(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        embeds_as(server, lambda texts: [{"embedding": embed(text)} for text in texts])
        assert store.add("a", handbook).status is IngestStatus.READY
        assert "2,500" in store.search("a", "日当は1日いくら", k=1)[0].text


def test_vectors_of_no_length_are_told_as_unreadable(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        embeds_as(server, lambda texts: [{"index": n, "embedding": []} for n, _ in enumerate(texts)])
        assert what_is_said(store, handbook) == "answer_unreadable"


TEXT_TOO_LONG = {
    "vLLM": Refusal(400, "This model's maximum context length is 512 tokens. However, you requested 700 tokens."),
    "llama.cpp": Refusal(500, "input (700 tokens) is too large to process. increase the physical batch size"),
    "Ollama": Refusal(400, "the input length exceeds the context length"),
    "TEI": Refusal(413, "Input validation error: `inputs` must have less than 512 tokens. Given: 700"),
    "Jina": Refusal(400, "Single text cannot exceed 8194 tokens. 9000 tokens given."),
}
"""how services refuse a text that is longer than what their embedding model reads"""


def test_a_text_that_is_too_long_for_the_model_is_told_as_such_and_what_to_do(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        store.add("a", handbook)
        said = {}
        for service, refusal in TEXT_TOO_LONG.items():
            server.fails(refusal)
            with pytest.raises(errors.TextTooLong, match="shorter question") as caught:
                store.search("a", "日当 " * 500)
            assert "test-embedding" in caught.value.sentence("ja")
            said[service] = what_is_said(store, handbook)
        assert said == dict.fromkeys(TEXT_TOO_LONG, "text_too_long")


def test_texts_with_more_tokens_than_the_account_may_send_in_a_minute_are_sent_in_smaller_calls(
    data_dir: Path, handbook: Path
) -> None:
    handbook.write_text("\n\n".join(f"# Room {room}\n\nIt has {room} chairs.\n" for room in range(9)))
    too_large = Refusal(429, "Request too large for test-embedding on tokens per min (TPM): Limit 1, Requested 9.")
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        embed_as_usual = server.routes["POST", EMBEDDINGS]
        server.routes["POST", EMBEDDINGS] = lambda request, connection, fault: (
            server.refuse(connection, too_large)
            if len(request.body["input"]) > 4
            else embed_as_usual(request, connection, fault)
        )
        assert store.add("a", handbook).status is IngestStatus.READY


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"message": "Provider returned error", "code": 502}, "service_failed"),
        ({"message": "Rate limit exceeded", "code": 429}, "service_busy"),
        ("Unexpected endpoint or method. (POST /embeddings). Returning 200 anyway", "model_unknown"),
    ],
    ids=["OpenRouter", "OpenRouter's limit", "LM Studio without /v1"],
)
def test_an_error_with_status_200_is_told_as_what_it_is(
    data_dir: Path, handbook: Path, error: object, code: str
) -> None:
    with OpenAIServer() as server, store_of(server, data_dir) as store:
        server.routes["POST", EMBEDDINGS] = lambda request, connection, fault: connection.send_json(
            HTTPStatus.OK, {"error": error}, fault=fault
        )
        assert what_is_said(store, handbook) == code


def test_an_error_with_status_200_is_asked_again_as_often_as_the_retries_say(data_dir: Path, handbook: Path) -> None:
    bodies = iter(({"error": {"code": 502}}, {"data": [{"index": 0, "embedding": embed("x")}]}))
    with OpenAIServer() as server, store_of(server, data_dir, model_retries=1) as store:
        server.routes["POST", EMBEDDINGS] = lambda request, connection, fault: connection.send_json(
            HTTPStatus.OK, next(bodies), fault=fault
        )
        handbook.write_text("# One\n\nchunk\n")
        assert store.add("a", handbook).status is IngestStatus.READY


def test_another_model_than_the_index_was_made_with_is_refused(data_dir: Path, handbook: Path) -> None:
    with OpenAIServer() as server:
        with store_of(server, data_dir) as store:
            store.add("a", handbook)
        with store_of(server, data_dir, embedding_model="other") as store:
            with pytest.raises(errors.EmbeddingModelMismatch, match=r"test-embedding.*other"):
                store.search("a", "日当")
            with pytest.raises(errors.EmbeddingModelMismatch):
                store.add("a", handbook)
            assert store.add("b", handbook).status is IngestStatus.READY


def test_no_key_or_password_is_in_a_settings_repr_or_an_error() -> None:
    settings = Settings(openai_api_key=KEY)
    assert KEY not in repr(settings)
    with pytest.raises(errors.InvalidSetting) as caught:
        Settings(openai_base_url=f"nonsense {KEY}")
    assert KEY not in str(caught.value)
    assert "OPENAI_BASE_URL" in str(caught.value)

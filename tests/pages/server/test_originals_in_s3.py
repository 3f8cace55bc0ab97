"""The route of originals when they are in S3: whole files, parts, and a sentence while S3 is unavailable."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from index_store.base.errors import OriginalsAway
from index_store.ingestion.sources import FileSource
from pages.server.health import readyz
from pages.server.originals import original
from tests.helpers.waiting import eventually
from tests.pages.tabs.search_page import SearchPage
from tests.servers.s3 import Between

CONTENT = b"# Large\n\n" + b"line of text\n" * 1000


@pytest.fixture
def between(s3, monkeypatch) -> Iterator[Between]:
    with Between(s3.port) as between:
        address = f"s3://{s3.new_bucket()}/originals?endpoint_url={between.url}&key=someone&secret=not-a-secret"
        monkeypatch.setenv("ORIGINALS_URL", address)
        yield between


@pytest.fixture
def document(between, engine, tmp_path) -> str:
    file = tmp_path / "file"
    file.write_bytes(CONTENT)
    [added] = engine.store.ingest("handbook", [FileSource(file, "large.md")]).wait()
    assert added.error is None
    return f"/originals/{added.document_id}"


@pytest.fixture
def client() -> Iterator[TestClient]:
    routes = [Route("/originals/{document_id}", original), Route("/readyz", readyz)]
    with TestClient(Starlette(routes=routes)) as client:
        yield client


PARTS = [
    (None, 200, CONTENT, None),
    ("bytes=2-6", 206, b"Large", "bytes 2-6/13009"),
    ("bytes=13000-", 206, CONTENT[13000:], "bytes 13000-13008/13009"),
    ("bytes=13000-99999", 206, CONTENT[13000:], "bytes 13000-13008/13009"),
    ("bytes=-5", 206, CONTENT[-5:], "bytes 13004-13008/13009"),
    ("bytes=13009-", 416, b"", "bytes */13009"),
    ("bytes=0-1,5-6", 200, CONTENT, None),
    ("bytes=6-2", 200, CONTENT, None),
    ("lines=1-2", 200, CONTENT, None),
]
"""the requested range, and the answer: its status, its content, and its Content-Range"""


def test_the_whole_or_a_part_is_sent(client, document):
    for asked, status, content, part in PARTS:
        answer = client.get(document, headers={"Range": asked} if asked else {})
        assert (answer.status_code, answer.content, answer.headers.get("content-range")) == (status, content, part)
        assert int(answer.headers["content-length"]) == len(content)
        if status != 416:
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            assert answer.headers["accept-ranges"] == "bytes"


@pytest.mark.soak
def test_a_part_of_another_version_is_not_put_together_with_this_one(client, document):
    tag = client.head(document).headers["etag"]
    for asked, status in ((tag, 206), ('"another"', 200)):
        assert client.get(document, headers={"Range": "bytes=2-6", "If-Range": asked}).status_code == status


def test_while_it_is_away_a_sentence_says_so_in_both_languages_and_a_light_is_on(
    client, document, between, engine, caplog
):
    between.is_gone = True
    said = OriginalsAway(host=between.url.removeprefix("http://"))
    for language in ("ja", "en"):
        answer = client.get(document, headers={"Accept-Language": language})
        assert (answer.status_code, answer.text) == (503, said.sentence(language))
    assert client.get("/readyz").text == "degraded\n"
    page = SearchPage("en")
    [light] = [each.value for each in page.app.html if 'class="light"' in each.value]
    assert page.words["app.originals_away"].split("'")[0] in light
    assert "not-a-secret" not in f"{page.app}{caplog.text}"
    between.is_gone = False
    assert eventually(lambda: engine.store.trouble is None)
    assert client.get(document).content == CONTENT

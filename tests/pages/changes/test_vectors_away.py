"""What the pages show while the Chroma server is unavailable, and that they work again when it is back."""

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from index_store.base.errors import VectorsAway
from pages.server import process
from pages.server.health import readyz
from tests.helpers.looks import one_language
from tests.helpers.waiting import eventually
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.search_page import SearchPage
from tests.rag.verdicts import YES
from tests.servers import Fault
from tests.servers.chroma import ChromaProxy


def lights(app: AppTest) -> list[str]:
    return [each.value for each in app.html if 'class="light"' in each.value]


@one_language("ja")
def test_a_yellow_light_and_a_sentence_in_the_readers_language_until_it_is_back(
    server, chroma, data_dir, tmp_path, monkeypatch, caplog, language
):
    file = tmp_path / "safe.md"
    file.write_text("# Safe\n\nThe safe opens to the left.\n", encoding="utf-8")
    server.default = "To the left [1]."
    server.answer_when(lambda request: request.schema is not None, YES)
    with ChromaProxy(chroma) as proxy:
        monkeypatch.setenv("CHROMA_URL", proxy.url.replace("//", "//someone:not-a-secret@"))
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        store = process.engine().store
        assert store.add("handbook", file, "safe.md").error is None
        page = ChatPage(language)
        ready = TestClient(Starlette(routes=[Route("/readyz", readyz)]))
        assert lights(page.app) == []
        assert ready.get("/readyz").text == "ready\n"

        proxy.fails(Fault.CLOSES)
        assert eventually(lambda: store.trouble is not None)
        answer = ready.get("/readyz")
        assert (answer.status_code, answer.text) == (200, "degraded\n")
        said = VectorsAway(host=proxy.url.removeprefix("http://"))
        page.ask("Where does it open?")
        [light] = lights(page.look().app)
        assert page.words["app.vectors_away"] in light
        assert page.errors == [said.sentence(language)]
        assert "not-a-secret" not in f"{page.app}{caplog.text}"
        assert not [each for each in caplog.records if each.exc_info]
        found = SearchPage("en")
        found.ask("left")
        assert said.sentence("en") in found.column("vector")
        assert len(found.hits("keyword")) == 1

        proxy.recovers()
        assert eventually(lambda: store.trouble is None)
        page.ask("Where does it open now?")
        assert lights(page.look().app) == []
        assert "To the left" in page.answers[-1]

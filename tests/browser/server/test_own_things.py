"""Two people in two browsers: nobody sees the conversations and documents of the other, except through a link."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from index_store.access.access import open_access
from index_store.access.grants import Grantee
from index_store.access.principal import LOCAL
from index_store.access.rights import GranteeKind, Right
from index_store.base.settings.settings import Settings
from rag.runs.history.for_people.shares import Shares
from rag.runs.history.history import History
from rag.trace.events import RunFinished
from tests.browser.app_process import App
from tests.browser.conftest import KEY, LOCALES
from tests.browser.server.guests import PEOPLE, WITHIN, Guest, Served
from tests.helpers.handbook import HANDBOOK
from tests.helpers.waiting import eventually
from tests.servers import OpenAIServer
from tests.servers.provider import OpenIdProvider

QUESTION = "Who approves the green car?"


@pytest.fixture
def served(data_with: Callable[[str, str], Path], server: OpenAIServer, tmp_path: Path) -> Iterator[Served]:
    """The app with the handbook in an index that has no owner yet."""
    data_dir = shutil.copytree(data_with("travel.md", HANDBOOK), tmp_path / "served" / "data")
    app = App(
        data_dir.parent,
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=server.base_url,
        EMBEDDING_MODEL="test-embedding",
        SUGGEST_FOLLOW_UPS="off",
        PRELOAD="false",
        AUTH="oidc",
        EDITOR_GROUPS="editors",
    )
    with ExitStack() as running:
        provider = running.enter_context(OpenIdProvider(f"{app.url}/oauth2callback", PEOPLE))
        app.set(APP_URL=app.url, OIDC_PROVIDERS=json.dumps([provider.settings()]))
        running.enter_context(app)
        yield Served(app, provider, provider, data_dir)
    assert " ERROR " not in app.log.read_text(encoding="utf-8")


@pytest.fixture
def come(chromium: Browser, served: Served) -> Iterator[Callable[[str], Guest]]:
    with ExitStack() as contexts:

        def come(name: str) -> Guest:
            context = contexts.enter_context(chromium.new_context(locale=LOCALES["en"]))
            guest = Guest(context, served, "en")
            guest.sign_in(name)
            return guest

        yield come


@pytest.mark.soak  # without a browser: tests/pages/test_share.py, tests/rag/runs/test_user_engine.py
def test_a_conversation_is_its_owners_until_a_link_shows_it_and_its_documents_stay_shut(come, served, server):
    server.answer_when(lambda request: request.schema is None, "A director approves it [1].")
    owner, other = come("emil"), come("nora")
    with open_access(Settings(data_dir=served.data_dir)) as access:
        emil = Grantee(GranteeKind.PERSON, access.people.find("emil").id)
        access.grants.give("handbook", emil, Right.READ)
        owner.open()
        owner.settle()
        owner.page.get_by_placeholder(owner.words["chat.placeholder_alone"]).fill(QUESTION)
        attach = owner.page.get_by_test_id("stChatInputFileUploadButton")
        expect(attach).to_be_hidden()
        access.grants.give("handbook", emil, Right.WRITE)
        owner.choose(owner.page.get_by_test_id("stBottom").get_by_role("combobox").last, owner.words["pipeline.naive"])
        field = owner.page.get_by_placeholder(owner.words["chat.placeholder"])
        expect(field).to_have_value(QUESTION)
        expect(attach).to_be_visible()
        access.grants.give("handbook", emil, Right.READ)
    field.press("Enter")
    expect(owner.page.locator(".answer")).to_contain_text("A director approves it", timeout=WITHIN)
    conversation = parse_qs(urlsplit(owner.page.url).query)["c"][0]
    with closing(History(served.data_dir)) as history:
        [run] = history.runs(conversation, principal=LOCAL)
        assert eventually(lambda: isinstance(history.events(run.id)[-1], RunFinished), seconds=WITHIN / 1000)
        document = history.events(run.id)[-1].citations[0].document_id
        token = Shares(history).add(conversation, principal=LOCAL).token
    owner.open(f"/?c={conversation}")
    expect(owner.page.locator(".question")).to_have_text(QUESTION, timeout=WITHIN)
    for path in (f"/?c={conversation}", f"/runs?run={run.id}", f"/compare?runs={run.id}", f"/documents?doc={document}"):
        other.open(path)
        expect(other.documents).to_be_attached(timeout=WITHIN)
        other.settle()
        assert "green car" not in other.page.content(), path
    original = f"{served.app.url}/originals/{document}"
    assert (owner.context.request.get(original).status, other.context.request.get(original).status) == (200, 404)

    other.open(f"/shared?share={token}")
    expect(other.page.locator(".question")).to_have_text(QUESTION, timeout=WITHIN)
    expect(other.page.locator(".answer")).to_contain_text("A director approves it")
    other.settle()
    other.page.locator("button.cite").first.click()
    card = other.page.locator(".passage-card:popover-open")
    expect(card).to_contain_text("approval of a director")
    expect(card).to_contain_text(other.words["chat.gone"])
    assert other.context.request.get(original).status == 404

"""A person at a browser: what they do on the page, and what their browser noticed meanwhile."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Request, WebSocket, expect

from pages.texts import texts
from rag.language import Language

LOADED = 30_000
"""milliseconds for what includes a model's first use"""


class Visitor:
    def __init__(self, context: BrowserContext, url: str, language: Language) -> None:
        """Opens the page. `language` is the one that they expect to read."""
        self.words = texts(language)
        self.language = language
        self.addresses: list[str] = []
        """of all requests and sockets"""
        self.complaints: list[str] = []
        """errors on the console and uncaught ones"""
        self._home = urlsplit(url).netloc
        self.page = context.new_page()
        self.page.on("request", self._note_request)
        self.page.on("websocket", self._note_socket)
        self.page.on("console", lambda message: self._note(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.goto(url)
        expect(self.composer).to_be_visible(timeout=LOADED)

    @property
    def width(self) -> int:
        """Of the widest that there is to scroll, in pixels."""
        return self.page.evaluate(
            "Math.max(...['html', '[data-testid=stMain]', '[data-testid=stMainBlockContainer]']"
            ".map(each => document.querySelector(each).scrollWidth))"
        )

    @property
    def foreign_addresses(self) -> list[str]:
        """Those of any host but the app's own."""
        ours = ("data", "blob", "about")
        return [each for each in self.addresses if urlsplit(each).scheme not in ours and not self._is_ours(each)]

    @property
    def composer(self) -> Locator:
        return self.page.get_by_placeholder(self.words["chat.placeholder"])

    @property
    def questions(self) -> Locator:
        return self.page.locator(".question")

    @property
    def answers(self) -> Locator:
        return self.page.locator(".answer")

    @property
    def stop(self) -> Locator:
        return self.page.get_by_test_id("stMain").get_by_role("button", name=self.words["chat.stop"])

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_test_id("stSidebar")

    @property
    def traces(self) -> Locator:
        """The lines that fold the steps of a run that is over."""
        name = self.words["pipeline.self_rag"]
        return self.page.get_by_test_id("stExpander").locator("summary").filter(has_text=name)

    def button(self, key: str, **parts: object) -> Locator:
        return self.page.get_by_role("button", name=self.words[key].format(**parts))

    @property
    def pickers(self) -> Locator:
        """Of the index, where there is one, and of the pipeline."""
        return self.page.get_by_test_id("stBottom").get_by_role("combobox")

    def text(self, key: str, **parts: object) -> Locator:
        return self.page.get_by_text(self.words[key].format(**parts))

    def step(self, name: str) -> Locator:
        """The row of a step in a trace that is open."""
        title = self.page.locator("strong").get_by_text(self.words[f"step.{name}"], exact=True)
        return self.page.get_by_test_id("stExpander").locator("summary").filter(has=title).last

    def ask(self, question: str, *files: Path) -> None:
        if files:
            self.page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files(files)
            expect(self.page.get_by_test_id("stChatInput").get_by_text(files[-1].name)).to_be_visible()
        self.composer.fill(question)
        self.composer.press("Enter")
        expect(self.questions.filter(has_text=question).last).to_be_visible(timeout=LOADED)

    def wait_for_the_end(self) -> None:
        """Of the run."""
        expect(self.button("chat.again").last).to_be_visible(timeout=LOADED)
        expect(self.stop).to_have_count(0)

    def upload(self, *files: Path) -> None:
        """In the sidebar, until all are added or refused."""
        while self.button("documents.dismiss").count():  # what earlier visitors added
            shown = self.button("documents.dismiss").count()
            self.button("documents.dismiss").first.click()
            expect(self.button("documents.dismiss")).to_have_count(shown - 1)
        self.sidebar.locator("input[type=file]").set_input_files(files)
        expect(self.button("documents.dismiss")).to_be_visible(timeout=LOADED)
        expect(self.page.locator("[data-test-script-state=notRunning]")).to_be_visible()

    def choose_language(self, language: Language) -> None:
        self.sidebar.get_by_role("radio", name={"ja": "日本語", "en": "English"}[language]).click()
        self.words, self.language = texts(language), language
        expect(self.composer).to_be_visible()

    def _note(self, complaint: str) -> None:
        self.complaints.append(complaint)

    def _note_request(self, request: Request) -> None:
        self.addresses.append(request.url)

    def _note_socket(self, socket: WebSocket) -> None:
        self.addresses.append(socket.url)

    def _is_ours(self, address: str) -> bool:
        return urlsplit(address).netloc == self._home

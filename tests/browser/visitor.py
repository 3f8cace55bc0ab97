"""A person with a browser: their actions on the page, and the requests and errors of the browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, WebSocket, expect

from pages.texts import texts
from rag.text.language import Language

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

LOADED = 60_000
"""milliseconds for an action that includes the first use of a model"""

NOTE_WHAT_IS_SENT = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (message) {
    if (!this.isHeard) {
        this.isHeard = true;
        // Two frames later, what the message says of the script is in the page.
        const hear = () => requestAnimationFrame(() => requestAnimationFrame(() => { window.sent = undefined; }));
        this.addEventListener("message", hear);
    }
    window.sent = performance.now();
    return send.call(this, message);
};
"""
"""for `SETTLED`: notes when the page last sent something to which the server has not reacted"""

SETTLED = """() => document.querySelector("[data-test-script-state=notRunning]")
    && !document.querySelector("[data-testid=stSkeleton]") && !(performance.now() - window.sent < 1000)"""
"""The script has ended, also the one that a press just before will begin, and the code of all that it shows is loaded.
To some messages, the server has no answer.
"""


def settle(page: Page) -> None:
    """Waits until the script of the page has ended. The page notes what it sends."""
    page.wait_for_function(SETTLED, timeout=LOADED)


def show_in(scheme: Scheme, page: Page) -> None:
    """Changes the colours of an open page. Its script runs again then."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(
        "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme.includes(scheme)",
        arg=scheme,
        timeout=LOADED,
    )


def boxes(places: Locator) -> list[dict[str, float]]:
    """Where each of them stands. All are read at once: between two reads, the page could move."""
    return places.evaluate_all("all => all.map(each => each.getBoundingClientRect().toJSON())")


class Visitor:
    def __init__(self, context: BrowserContext, url: str, language: Language, scheme: Scheme = "light") -> None:
        """Opens the page. `language`: the language in which they expect the page. `scheme`: their colours."""
        self.words = texts(language)
        self.language = language
        self.addresses: list[str] = []
        """addresses of all requests and sockets"""
        self.complaints: list[str] = []
        """errors on the console and uncaught errors"""
        self._home = urlsplit(url).netloc
        self.page = context.new_page()
        self.page.add_init_script(NOTE_WHAT_IS_SENT)
        self.page.emulate_media(color_scheme=scheme)
        self.page.on("request", self._note_request)
        self.page.on("websocket", self._note_socket)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self._note(str(error)))
        self.page.goto(url)
        expect(self.sidebar.get_by_role("link", name=self.words["app.documents"])).to_be_attached(timeout=LOADED)
        self.settle()

    @property
    def width(self) -> int:
        """Width of the widest part that can be scrolled, in pixels."""
        return self.page.evaluate(
            "document.fonts.ready.then(() => Math.max(...['html', '[data-testid=stMain]',"
            " '[data-testid=stMainBlockContainer]'].map(each => document.querySelector(each).scrollWidth)))"
        )

    @property
    def foreign_addresses(self) -> list[str]:
        """Addresses of other hosts than the app's."""
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
        """The lines that open the steps of a finished run."""
        name = self.words["pipeline.self_rag"]
        return self.page.get_by_test_id("stExpander").locator("summary").filter(has_text=name)

    def button(self, key: str, **parts: object) -> Locator:
        return self.page.get_by_role("button", name=self.words[key].format(**parts))

    @property
    def index_picker(self) -> Locator:
        """It does not exist while there is no index."""
        return self._picker("index.label")

    @property
    def pipeline_picker(self) -> Locator:
        return self._picker("pipeline.label")

    def _picker(self, key: str) -> Locator:
        # By name, not by position: while one picker is open, the others have no role, so the first is also the last.
        return self.page.get_by_test_id("stBottom").get_by_role("combobox", name=self.words[key], exact=True)

    def pick_pipeline(self, name: str) -> None:
        self.settle()  # a picker that is drawn again is closed
        self.pipeline_picker.click()
        self.page.get_by_role("option", name=self.words[f"pipeline.{name}"], exact=True).click()
        self.settle()

    def text(self, key: str, **parts: object) -> Locator:
        """Where it can be read: the Markdown that can be copied has some of the same sentences."""
        return self.page.get_by_text(self.words[key].format(**parts)).filter(visible=True)

    def step(self, name: str) -> Locator:
        """The row of a step in an open trace."""
        title = self.page.locator("strong").get_by_text(self.words[f"step.{name}"], exact=True)
        return self.page.get_by_test_id("stExpander").locator("summary").filter(has=title).last

    def press_as_a_read_is_due(self, button: Locator) -> None:
        """A press in a busy browser: between the press and its message, a fragment's interval ends."""
        button.evaluate(
            "button => { setTimeout(() => button.click());"
            " const begun = performance.now(); while (performance.now() < begun + 1000); }"
        )

    def open(self, summary: Locator) -> None:
        """Opens a fold and waits until it has its full height.

        A fold grows when it is opened and when its content arrives. A click inside a growing fold scrolls it, and is
        lost.
        """
        expect(summary).to_be_visible(timeout=LOADED)
        self.settle()
        self._wait_for_folds()
        summary.click()
        expect(summary.locator("xpath=..")).to_have_attribute("open", "")
        self._wait_for_folds()

    def _wait_for_folds(self) -> None:
        """Waits until no fold grows. A fold begins to grow up to two frames after it has changed."""
        self.page.evaluate("async () => { for (const _ of [1, 2]) await new Promise(requestAnimationFrame) }")
        # Not in one call with the frames: wait_for_function treats a promise as true.
        self.page.wait_for_function(
            "() => { const grows = each => each.playState === 'running' && each.effect.target.matches('details');"
            " const is_cut = each => each.scrollHeight > each.clientHeight + 1;"
            " const folds = document.querySelectorAll('[data-testid=stExpander] details[open]');"
            " return !document.getAnimations().some(grows) && ![...folds].some(is_cut) }"
        )

    def ask(self, question: str, file: Path | None = None) -> None:
        field = self.page.get_by_test_id("stChatInput")
        expect(self.composer).to_be_visible(timeout=LOADED)
        self.settle()  # the composer of another chat takes the place of this one
        if file:
            field.locator("input[type=file]").set_input_files(file)
            expect(field.get_by_text(file.name)).to_be_visible(timeout=LOADED)
        self.composer.fill(question)
        # During an upload, Enter does nothing, and the button can't be pressed.
        expect(field.get_by_test_id("stChatInputSubmitButton")).to_be_enabled(timeout=LOADED)
        self.composer.press("Enter")
        expect(self.questions.filter(has_text=question).last).to_be_visible(timeout=LOADED)

    def wait_for_the_end(self) -> None:
        """Waits until the run of the last question has ended."""
        # What can be done with earlier answers stands above it. What was there before the page was last drawn is stale.
        below = self.questions.last.locator("xpath=following::*[@data-stale='false']//button")
        expect(below.and_(self.button("chat.again"))).to_be_visible(timeout=LOADED)
        expect(self.stop).to_have_count(0, timeout=LOADED)
        self.settle()  # what was shown while it ran can stand beside what is shown now

    def delete_conversation(self) -> None:
        """Deletes the one that is open."""
        self.settle()
        self.sidebar.get_by_role("button", name=self.words["sidebar.delete"], exact=True).click()
        self.page.get_by_role("button", name=self.words["sidebar.delete_really"], exact=True).click()

    def upload(self, *files: Path) -> None:
        """Uploads in the sidebar and waits until all files are added or refused."""
        self._add(self.sidebar.locator("input[type=file]"), files)

    def choose_language(self, language: Language) -> None:
        self.settle()  # a click on a button that is just being drawn again is lost
        self.sidebar.get_by_role("radio", name={"ja": "日本語", "en": "English"}[language]).click()
        self.words, self.language = texts(language), language
        expect(self.sidebar.get_by_role("link", name=self.words["app.documents"])).to_be_visible()
        self.settle()

    @property
    def table(self) -> Locator:
        """The table of documents."""
        return self.page.get_by_test_id("stDataFrame")

    @property
    def dropzone(self) -> Locator:
        """The dropzone on the Documents page."""
        return self.page.get_by_test_id("stMain").get_by_test_id("stFileUploader").locator("input[type=file]").first

    @property
    def cancel(self) -> Locator:
        """The button that cancels jobs; an upload has one too."""
        return self.page.get_by_role("button", name=self.words["documents.cancel"], exact=True)

    def settle(self) -> None:
        """Waits until the script of the page has ended."""
        settle(self.page)

    def show_documents(self) -> None:
        self.sidebar.get_by_role("link", name=self.words["app.documents"]).click()
        expect(self.dropzone).to_be_attached(timeout=LOADED)
        self.settle()

    def drop(self, *files: Path) -> None:
        """Drops files on the Documents page and waits until all are added or refused."""
        self._add(self.dropzone, files)

    def _add(self, field: Locator, files: Sequence[Path]) -> None:
        """On a slow machine, files may arrive in two parts and become two jobs."""
        self.settle()  # if the script begins as a file is chosen, Streamlit forgets to take it
        self.dismiss_jobs()
        field.evaluate("field => field.value = ''")  # like the file dialog, so the same file can be chosen again
        field.set_input_files(files)
        expect(self.button("documents.dismiss").first).to_be_visible(timeout=LOADED)
        expect(self.page.get_by_role("progressbar")).to_have_count(0, timeout=LOADED)
        self.settle()

    def dismiss_jobs(self) -> None:
        """Dismisses the finished jobs."""
        jobs = self.page.locator(".job")
        for left in range(jobs.count(), 0, -1):
            self.button("documents.dismiss").first.click()
            expect(jobs).to_have_count(left - 1, timeout=LOADED)
            self.settle()

    @property
    def rows(self) -> Locator:
        """The table's rows for screen readers, including its head; the visible table is painted on a canvas."""
        return self.table.locator("[role=row]")

    def row(self, number: int, x: int) -> None:
        """Clicks on a row of the table, counted from 1. `x`: pixels from the left."""
        expect(self.rows.nth(number)).to_be_attached()
        self.table.scroll_into_view_if_needed()
        self.table.click(position={"x": x, "y": 35 * number + 18})

    def select_row(self, number: int) -> None:
        self.row(number, 18)
        expect(self.rows.nth(number)).to_have_attribute("aria-selected", "true")
        self.settle()

    def open_row(self, number: int) -> None:
        self.row(number, 70)
        expect(self.page.locator(".document h2")).to_be_visible(timeout=LOADED)
        self.settle()

    def find(self, words: str, count: int) -> None:
        """Searches in the table and waits until `count` rows remain; at most as many as are visible."""
        field = self.page.get_by_placeholder(self.words["table.search"])
        field.fill(words)
        field.press("Enter")
        expect(self.rows).to_have_count(count + 1 if count else 0, timeout=LOADED)
        self.settle()

    def _note_message(self, message: ConsoleMessage) -> None:
        # Streamlit first looks for its server under the page's own path, and gets a 404.
        address = message.location.get("url", "")
        is_probe = "/_stcore/" in address and "404" in message.text
        if message.type == "error" and not is_probe:
            self._note(f"{message.text} ({address})")

    def _note(self, complaint: str) -> None:
        self.complaints.append(complaint)

    def _note_request(self, request: Request) -> None:
        self.addresses.append(request.url)

    def _note_socket(self, socket: WebSocket) -> None:
        self.addresses.append(socket.url)

    def _is_ours(self, address: str) -> bool:
        return urlsplit(address).netloc == self._home

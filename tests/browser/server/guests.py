"""People who sign in, each in a browser context of their own."""

from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import BrowserContext, Locator, Page, expect

from index_store.access.people.person import Person
from pages.texts import texts
from rag.text.language import Language
from tests.browser.app_process import App
from tests.browser.visitor import NOTE_WHAT_IS_SENT, settle
from tests.servers.provider import OpenIdProvider

SECONDS = 1000
"""milliseconds"""
WITHIN = 60 * SECONDS


def person(login: str, name: str, *groups: str) -> dict[str, object]:
    return {"name": name, "email": f"{login}@example.com", "email_verified": True, "groups": list(groups)}


PEOPLE = {
    "anna": person("anna", "Anna Adams", "staff"),
    "emil": person("emil", "Emil", "staff", "editors"),
    "rika": person("rika", "鈴木 梨香"),
    "nora": person("nora", "Nora"),
}


class Served(NamedTuple):
    app: App
    provider: OpenIdProvider
    behind: OpenIdProvider
    """whose clock is behind"""
    data_dir: Path
    others: tuple[OpenIdProvider, ...] = ()
    """all but `provider`, not started yet"""


class Guest:
    """A person with a separate browser context and one open tab."""

    def __init__(self, context: BrowserContext, served: Served, language: Language) -> None:
        self.context = context
        self.served = served
        self.words = texts(language)
        self.language = language
        self.page = context.new_page()
        self.page.add_init_script(NOTE_WHAT_IS_SENT)
        context.set_default_timeout(WITHIN)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._note)

    def _note(self, message: object) -> None:
        if message.type == "error" and "404" not in message.text:
            self.complaints.append(message.text)

    def open_beside(self, path: str) -> Page:
        """Opens the path in another tab."""
        page = self.context.new_page()
        self.open(path, page)
        return page

    def open(self, path: str = "/", page: Page | None = None) -> None:
        (page or self.page).goto(self.served.app.url + path)

    def sign_in(self, name: str, path: str = "/", provider: str = "Example") -> None:
        self.open(path)
        self.go_to_provider(provider)
        self.tell_provider(name)
        expect(self.documents).to_be_attached(timeout=WITHIN)
        self.settle()

    def go_to_provider(self, name: str = "Example") -> None:
        """Presses the button of a provider; a press while the page is drawn could be lost."""
        button = self.button("sign_in.with", provider=name)
        expect(button).to_be_visible(timeout=WITHIN)
        self.settle()
        button.click()

    def sign_out(self) -> None:
        """Signs out, in the app and at the provider."""
        self.settle()
        expand = self.page.get_by_test_id("stExpandSidebarButton")
        if expand.count():
            expand.click()
        self.button("sign_in.out").click()
        self.page.get_by_role("button", name="Yes").click()
        expect(self.text("sign_in.about")).to_be_visible(timeout=WITHIN)

    def settle(self) -> None:
        """Waits until the page is drawn."""
        settle(self.page)

    def choose(self, field: Locator, name: str) -> None:
        self.settle()
        field.click()
        self.page.get_by_role("option", name=name, exact=True).click()
        self.settle()

    def choose_role(self, person: Person, role: str) -> None:
        field = self.page.locator(f".st-key-person-{person.id}").get_by_role("combobox")
        # Waits until the page is drawn: at first, a changed field is shown beside the old one.
        self.settle()
        expect(field).to_have_count(1, timeout=WITHIN)
        field.click()
        name = self.words[f"people.{role}"]
        option = self.page.get_by_role("option")
        (option.first if role == "as_claimed" else option.get_by_text(name, exact=True)).click()

    def tell_provider(self, name: str) -> None:
        self.page.get_by_label("Login").fill(name)
        self.page.get_by_label("Password").fill(name)
        self.page.get_by_role("button", name="Continue").click()

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_test_id("stSidebar")

    @property
    def width(self) -> int:
        """Width of the widest part that can be scrolled, in pixels."""
        return self.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")

    @property
    def documents(self) -> Locator:
        """The link to the Documents page, which only signed-in people see."""
        return self.link("app.documents")

    def link(self, key: str) -> Locator:
        return self.sidebar.get_by_role("link", name=self.words[key], exact=True)

    def button(self, key: str, **parts: object) -> Locator:
        return self.page.get_by_role("button", name=self.words[key].format(**parts), exact=True)

    def text(self, key: str, page: Page | None = None) -> Locator:
        return (page or self.page).get_by_text(self.words[key])

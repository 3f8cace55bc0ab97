"""The Search page, used as in one browser tab, but without a browser: with Streamlit's AppTest."""

from dataclasses import dataclass
from functools import cached_property

from lxml.html import HtmlElement, fragment_fromstring
from streamlit.testing.v1 import AppTest

from pages.texts import texts
from rag.text.language import Language
from tests.pages.chat_page import INDEX_PAGE, shown


@dataclass(frozen=True)
class Entry:
    """A hit in its list."""

    element: HtmlElement
    page: HtmlElement

    @property
    def text(self) -> str:
        return self.element.text_content()

    @property
    def path(self) -> str:
        return self._one("path").text_content()

    @property
    def ranks(self) -> str:
        return self._one("ranks").text_content()

    @property
    def letter(self) -> str:
        return "".join(each.text_content() for each in self.element.find_class("letter"))

    @property
    def colour(self) -> str | None:
        return self.element.get("style")

    @property
    def marks(self) -> list[str]:
        return [each.text_content() for each in self.element.iter("mark")]

    @cached_property
    def card(self) -> HtmlElement:
        """The card that it opens."""
        [button] = self.element.iter("button")
        return self.page.get_element_by_id(button.get("popovertarget"))

    def _one(self, name: str) -> HtmlElement:
        [found] = self.element.find_class(name)
        return found


class SearchPage:
    def __init__(self, language: Language = "en", **address: str | list[str]) -> None:
        self.words = texts(language)
        self.app = AppTest.from_file(INDEX_PAGE, default_timeout=60)
        self.app.query_params["lang"] = language
        self.app.run()
        self.app.switch_page("search.py")
        # From here on, AppTest passes the address to the page.
        for name, value in {"lang": language, **address}.items():
            self.app.query_params[name] = value
        self.look()

    def look(self) -> "SearchPage":
        self.app.run()
        assert not self.app.exception, self.app.exception
        return self

    @property
    def html(self) -> str:
        return "".join(each.value for each in self.app.html)

    @property
    def page(self) -> HtmlElement:
        return fragment_fromstring(self.html, create_parent=True)

    @property
    def text(self) -> str:
        """All texts outside of HTML."""
        told = (*self.app.caption, *self.app.info, *self.app.error, *self.app.warning)
        return "\n".join(shown(each.value) for each in told)

    @property
    def address(self) -> dict[str, list[str]]:
        named = self.app.query_params.items()
        return {name: value if isinstance(value, list) else [value] for name, value in named}

    def hits(self, mode: str) -> list[Entry]:
        page = self.page
        return [Entry(each, page) for column in page.find_class(mode) for each in column.find_class("hit")]

    def column(self, mode: str) -> str:
        """The whole text of a list."""
        return " ".join(each.text_content() for each in self.page.find_class(mode) if "mode-results" in each.classes)

    @property
    def analysis(self) -> dict[str, str]:
        """What the page says about each word of the question."""
        found = self.page.find_class("word")
        return {each[0].text_content(): each.text_content() for each in found}

    @property
    def named_documents(self) -> str:
        return " ".join(each.text_content() for each in self.page.find_class("named-documents"))

    def ask(self, question: str) -> "SearchPage":
        self.app.text_input(key="search q").set_value(question)
        return self.look()

"""The Search page in a test."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from lxml.html import HtmlElement

from rag.text.language import Language
from tests.pages.tabs.app_page import AppPage


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


class SearchPage(AppPage):
    def __init__(self, language: Language = "en", **address: str | list[str]) -> None:
        super().__init__("search", language, **address)

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

    def ask(self, question: str) -> Self:
        self.app.text_input(key="search q").set_value(question)
        return self.look()

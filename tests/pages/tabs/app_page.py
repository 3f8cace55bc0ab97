"""A page of the app, used as in one browser tab, but without a browser: with Streamlit's AppTest."""

import re
from collections.abc import Sequence
from typing import Self
from urllib.parse import parse_qsl

from lxml.html import HtmlElement, fragment_fromstring
from streamlit.testing.v1 import AppTest

from pages.texts import texts
from pages.words.names import WORD_JOINER
from rag.text.language import Language
from tests.conftest import ROOT

INDEX_PAGE = ROOT / "pages" / "index.py"
REGISTERED: dict = {}
"""the pages of the app, which are the same in each language and for everybody, as Streamlit registers them"""


def shown(label: str) -> str:
    """A label in Markdown as people see it: without escapes, and without what `about` in pages/words/names.py adds."""
    seen = re.sub(r" :gray\[.*\]$", "", label)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", seen).replace(WORD_JOINER, "")


class AppPage:
    def __init__(
        self,
        name: str | None,
        language: Language = "en",
        unfolded: Sequence[str] = (),
        **address: str | list[str],
    ) -> None:
        """`name`: of its file below pages/, as in `admin/audit`; None for the page that the app starts with, the chat.
        `unfolded`: keys of the folds that are open from the first redraw on.
        `address`: the parameters of its address.
        """
        self.words = texts(language)
        self.app = AppTest.from_file(INDEX_PAGE, default_timeout=60)
        self.app.query_params["lang"] = language
        if name:
            self._open(name)
        # After a switch, AppTest passes the address to the page.
        for key, value in {"lang": language, **address}.items():
            self.app.query_params[key] = value
        for key in unfolded:
            self.app.session_state[key] = True
        self.look()

    def _open(self, name: str) -> None:
        """Opens this page as the first one, as a person does who follows a link. AppTest only knows pages that its
        app has registered, so a first app draws the chat, and further ones know the same pages.
        """
        if not REGISTERED:
            self.app.run()
            REGISTERED.update(self.app._registered_pages)
        self.app._registered_pages = REGISTERED
        self.app.switch_page(f"{name}.py")

    def look(self) -> Self:
        self.app.run()
        assert not self.app.exception, self.app.exception
        return self

    def go(self, name: str, **address: str) -> Self:
        """Goes to another page in the same tab. `name`, `address`: as for the first page."""
        self.app.switch_page(f"{name}.py")
        self.app.query_params.clear()
        self.app.query_params.update(address)
        return self.look()

    def follow(self, label: str) -> Self:
        """Follows a link to a page. `label`: key of its text."""
        [link] = [each.proto for each in self.app.get("page_link") if each.proto.label == self.words[label]]
        return self.go(link.page or "chat", **dict(parse_qsl(link.query_string)))

    @property
    def html(self) -> str:
        return "".join(each.value for each in self.app.html)

    @property
    def page(self) -> HtmlElement:
        return fragment_fromstring(self.html, create_parent=True)

    @property
    def text(self) -> str:
        """All texts outside of HTML."""
        app = self.app
        told = (*app.caption, *app.info, *app.error, *app.warning, *app.success, *app.markdown)
        return "\n".join(shown(each.value) for each in told)

    @property
    def errors(self) -> list[str]:
        return [shown(each.value) for each in self.app.error]

    @property
    def buttons(self) -> list[str]:
        return [shown(each.label) for each in self.app.button]

    @property
    def fields(self) -> list[str]:
        """The ids of the fields for text and numbers. While an id stays, a browser keeps what is half typed there."""
        return [each.id for each in (*self.app.text_input, *self.app.number_input)]

    @property
    def offers_languages(self) -> bool:
        return any(shown(each.label) == self.words["app.language"] for each in self.app.button_group)

    @property
    def table(self) -> list[dict]:
        """The rows of its first table."""
        return self.app.dataframe[0].value.to_dict("records") if self.app.dataframe else []

    def column(self, title: str) -> list:
        """The cells of a column of the first table. `title`: key of the column's title."""
        return [row[self.words[title]] for row in self.table]

    def choose_language(self, language: Language) -> Self:
        self.app.button_group(key="chosen_language").set_value(language)
        self.words = texts(language)
        return self.look()

    def choose(self, label: str, value: str | None) -> Self:
        """`label`: key of the picker's text."""
        next(each for each in self.app.selectbox if each.label == self.words[label]).set_value(value)
        return self.look()

    def write(self, label: str, text: str) -> Self:
        """`label`: key of the field's text."""
        fields = [*self.app.text_input, *self.app.text_area, *self.app.number_input]
        next(each for each in fields if each.label == self.words[label]).set_value(text)
        return self.look()

    def parameter(self, name: str) -> str | None:
        """Of its address."""
        named = self.app.query_params.get(name)
        return named[0] if isinstance(named, list) else named

"""The Compare page, used as in one browser tab, but without a browser: with Streamlit's AppTest."""

from lxml.html import HtmlElement, fragment_fromstring
from streamlit.testing.v1 import AppTest

from pages.process import engine
from pages.texts import texts
from rag.text.language import Language
from tests.pages.chat_page import INDEX_PAGE, shown


class ComparePage:
    def __init__(self, language: Language = "en", **address: str) -> None:
        self.words = texts(language)
        self.app = AppTest.from_file(INDEX_PAGE, default_timeout=60)
        self.app.query_params["lang"] = language
        self.app.run()
        self.app.switch_page("compare.py")
        # From here on, AppTest passes the address to the page.
        for name, value in {"lang": language, **address}.items():
            self.app.query_params[name] = value
        self.look()

    def look(self) -> "ComparePage":
        self.app.run()
        assert not self.app.exception, self.app.exception
        return self

    @property
    def html(self) -> HtmlElement:
        return fragment_fromstring("".join(each.value for each in self.app.html), create_parent=True)

    @property
    def told(self) -> str:
        """All texts outside of HTML."""
        told = (*self.app.caption, *self.app.info, *self.app.error, *self.app.warning)
        return "\n".join(shown(each.value) for each in told)

    @property
    def comparison(self) -> str | None:
        """Its id in the address."""
        named = self.app.query_params.get("c")
        return named[0] if isinstance(named, list) else named

    @property
    def heads(self) -> list[str]:
        """The heads of the columns."""
        return [" ".join(" ".join(each.itertext()).split()) for each in self.html.find_class("column-head")]

    @property
    def questions(self) -> list[str]:
        return [each.text_content() for each in self.html.find_class("question")]

    @property
    def answers(self) -> list[str]:
        return [each.text_content().strip() for each in self.html.find_class("answer")]

    @property
    def headlines(self) -> list[str]:
        return [each.label for each in self.app.expander if " · " in each.label and each.label[0] not in "`✓✗"]

    def rows(self, table: str) -> list[list[str]]:
        """The cells of a table of differences, its head first."""
        return [
            [" ".join(" ".join(cell.itertext()).split()) for cell in row]
            for found in self.html.find_class(table)
            for row in found.iter("tr")
        ]

    @property
    def buttons(self) -> list[str]:
        return [shown(button.label) for button in self.app.button]

    def press(self, label: str, number: int = 0) -> "ComparePage":
        """`number`: which of the buttons with this label, from 0."""
        [button for button in self.app.button if label in shown(button.label)][number].click()
        return self.look()

    def pick_pipeline(self, column: int, name: str) -> None:
        pickers = [each for each in self.app.selectbox if each.label == self.words["pipeline.label"]]
        pickers[column].set_value(name)
        self.look()

    def compare(self, question: str) -> "ComparePage":
        self.app.text_area[0].set_value(question)
        self.press(self.words["compare.begin"])
        return self

    def wait(self) -> "ComparePage":
        """Waits until all columns have ended, with any result."""
        for run_id in engine().comparisons.get(self.comparison).run_ids:
            if run := engine().run(run_id):
                run.result()
        return self.look()

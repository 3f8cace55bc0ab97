"""The Runs page, used as in one browser tab, but without a browser: with Streamlit's AppTest."""

from streamlit.testing.v1 import AppTest

from pages.texts import texts
from rag.text.language import Language
from tests.pages.chat_page import INDEX_PAGE, shown


class RunsPage:
    def __init__(self, language: Language = "en", **address: str) -> None:
        self.words = texts(language)
        self.app = AppTest.from_file(INDEX_PAGE, default_timeout=30)
        self.app.query_params["lang"] = language
        self.app.run()
        self.app.switch_page("runs.py")
        # From here on, AppTest passes the address to the page.
        for name, value in {"lang": language, **address}.items():
            self.app.query_params[name] = value
        self.look()

    def look(self) -> "RunsPage":
        self.app.run()
        assert not self.app.exception, self.app.exception
        return self

    @property
    def rows(self) -> list[dict]:
        """The rows of the table, one per run."""
        return self.app.dataframe[0].value.to_dict("records") if self.app.dataframe else []

    @property
    def questions(self) -> list[str]:
        return [row["question"] for row in self.rows]

    @property
    def html(self) -> str:
        return "".join(each.value for each in self.app.html)

    @property
    def text(self) -> str:
        """All texts outside of HTML."""
        told = (*self.app.caption, *self.app.info, *self.app.error, *self.app.warning, *self.app.markdown)
        return "\n".join(shown(each.value) for each in told)

    @property
    def buttons(self) -> list[str]:
        return [shown(each.label) for each in self.app.button]

    def press(self, key: str) -> "RunsPage":
        [button] = [each for each in self.app.button if self.words[key] in shown(each.label)]
        button.click()
        return self.look()

    def choose(self, label: str, value: str) -> "RunsPage":
        next(each for each in self.app.selectbox if each.label == self.words[label]).set_value(value)
        return self.look()

    def search(self, words: str) -> "RunsPage":
        self.app.text_input(key="runs search").set_value(words)
        return self.look()

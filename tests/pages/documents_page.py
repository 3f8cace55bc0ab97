"""The Documents page, used as in one browser tab, but without a browser: with Streamlit's AppTest."""

from streamlit.testing.v1 import AppTest

from pages.process import engine
from pages.texts import texts
from rag.text.language import Language
from tests.pages.chat_page import INDEX_PAGE, shown


class DocumentsPage:
    def __init__(self, language: Language = "en", **address: str) -> None:
        self.words = texts(language)
        self.app = AppTest.from_file(INDEX_PAGE, default_timeout=30)
        self.app.query_params["lang"] = language
        self.app.run()
        self.app.switch_page("documents.py")
        # From here on, AppTest passes the address to the page.
        for name, value in {"lang": language, **address}.items():
            self.app.query_params[name] = value
        self.look()

    def look(self) -> "DocumentsPage":
        self.app.run()
        assert not self.app.exception, self.app.exception
        return self

    def wait(self) -> "DocumentsPage":
        """Waits until all jobs are finished."""
        for job in engine().store.ingestions:
            job.wait()
        return self.look()

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

    @property
    def table(self) -> list[dict]:
        """One row per document."""
        return self.app.dataframe[0].value.to_dict("records") if self.app.dataframe else []

    @property
    def titles(self) -> list[str]:
        return [row["title"] for row in self.table]

    @property
    def picked(self) -> str:
        return next(each.value for each in self.app.selectbox if each.label == self.words["index.label"])

    def press(self, key: str, **parts: object) -> "DocumentsPage":
        label = self.words[key].format(**parts)
        [button] = [each for each in self.app.button if shown(each.label) == label]
        button.click()
        return self.look()

    def write(self, label: str, text: str) -> "DocumentsPage":
        self._field(label).set_value(text)
        return self.look()

    def choose(self, label: str, value: str) -> "DocumentsPage":
        next(each for each in self.app.selectbox if each.label == self.words[label]).set_value(value)
        return self.look()

    def drop(self, *files: tuple[str, bytes]) -> "DocumentsPage":
        self.app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files])
        return self.look()

    def _field(self, label: str):
        fields = [*self.app.text_input, *self.app.text_area, *self.app.number_input]
        return next(each for each in fields if each.label == self.words[label])

"""The Documents page in a test."""

from typing import Self

from pages.server.process import engine
from rag.text.language import Language
from tests.pages.tabs.app_page import AppPage, shown


class DocumentsPage(AppPage):
    def __init__(self, language: Language = "en", **address: str) -> None:
        super().__init__("documents", language, **address)

    def wait(self) -> Self:
        """Waits until all jobs are finished."""
        for job in engine().store.ingestions:
            job.wait()
        return self.look()

    @property
    def titles(self) -> list[str]:
        return self.column("column.title")

    @property
    def picked(self) -> str:
        return next(each.value for each in self.app.selectbox if each.label == self.words["index.index"])

    def press(self, key: str, **parts: object) -> Self:
        label = self.words[key].format(**parts)
        [button] = [each for each in self.app.button if shown(each.label) == label]
        button.click()
        return self.look()

    def drop(self, *files: tuple[str, bytes]) -> Self:
        self.app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files])
        return self.look()

"""The Runs page in a test."""

from typing import Self

from rag.text.language import Language
from tests.pages.tabs.app_page import AppPage, shown


class RunsPage(AppPage):
    def __init__(self, language: Language = "en", **address: str) -> None:
        super().__init__("runs", language, **address)

    @property
    def questions(self) -> list[str]:
        return self.column("runs.question")

    def press(self, key: str) -> Self:
        [button] = [each for each in self.app.button if self.words[key] in shown(each.label)]
        button.click()
        return self.look()

    def search(self, words: str) -> Self:
        return self.write("runs.search", words)

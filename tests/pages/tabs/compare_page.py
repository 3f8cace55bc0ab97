"""The Compare page in a test."""

from typing import Self

from pages.server.process import engine
from rag.text.language import Language
from tests.pages.tabs.app_page import AppPage, shown


class ComparePage(AppPage):
    def __init__(self, language: Language = "en", **address: str) -> None:
        super().__init__("compare", language, **address)

    @property
    def comparison(self) -> str | None:
        """Its id in the address."""
        return self.parameter("c")

    @property
    def heads(self) -> list[str]:
        """The heads of the columns."""
        return [" ".join(" ".join(each.itertext()).split()) for each in self.page.find_class("column-head")]

    @property
    def questions(self) -> list[str]:
        return [each.text_content() for each in self.page.find_class("question")]

    @property
    def answers(self) -> list[str]:
        return [each.text_content().strip() for each in self.page.find_class("answer")]

    @property
    def headlines(self) -> list[str]:
        return [each.label for each in self.app.expander if " · " in each.label and each.label[0] not in "`✓✗"]

    def rows(self, table: str) -> list[list[str]]:
        """The cells of a table of differences, its head first."""
        return [
            [" ".join(" ".join(cell.itertext()).split()) for cell in row]
            for found in self.page.find_class(table)
            for row in found.iter("tr")
        ]

    def press(self, label: str, number: int = 0) -> Self:
        """`number`: which of the buttons with this label, from 0."""
        [button for button in self.app.button if label in shown(button.label)][number].click()
        return self.look()

    def pick_pipeline(self, column: int, name: str) -> None:
        pickers = [each for each in self.app.selectbox if each.label == self.words["pipeline.label"]]
        pickers[column].set_value(name)
        self.look()

    def compare(self, question: str) -> Self:
        self.app.text_area[0].set_value(question)
        self.press(self.words["compare.begin"])
        return self

    def wait(self) -> Self:
        """Waits until all columns have ended, with any result."""
        for run_id in engine().comparisons.get(self.comparison).run_ids:
            if run := engine().run(run_id):
                run.result()
        return self.look()

"""The chat page in a test."""

from collections.abc import Sequence

from streamlit.testing.v1.element_tree import NumberInput, Selectbox

from pages.server.process import engine
from rag.pipelines import PIPELINES
from rag.runs.history.history import PastRun
from rag.text.language import Language
from tests.pages.tabs.app_page import AppPage, shown


class ChatPage(AppPage):
    def __init__(
        self,
        language: Language = "en",
        conversation: str | None = None,
        branch: str | None = None,
        unfolded: Sequence[str] = (),
    ) -> None:
        """`unfolded`: as for any page."""
        address = {"c": conversation, "b": branch}
        super().__init__(None, language, unfolded, **{name: value for name, value in address.items() if value})

    @property
    def conversation(self) -> str | None:
        return self.parameter("c")

    @property
    def branch(self) -> str | None:
        return self.parameter("b")

    @property
    def answers(self) -> list[str]:
        """As HTML."""
        return [each.value for each in self.app.html if 'class="answer"' in each.value]

    @property
    def questions(self) -> list[str]:
        """As HTML."""
        return [each.value for each in self.app.html if 'class="question"' in each.value]

    @property
    def in_view(self) -> str | None:
        """The run whose question is brought into view; None means the latest."""
        [marker] = self.page.xpath("//*[@data-conversation]")
        return marker.get("data-sought") or None

    @property
    def traces(self) -> list[str]:
        """The folded lines above the answers."""
        return [each.label for each in self.app.expander if any(name in each.label for name in self._pipelines)]

    @property
    def told(self) -> str:
        """What the page says about jobs, as HTML."""
        return "".join(each.value for each in self.app.html if 'class="job"' in each.value)

    def press(self, label: str) -> None:
        [button] = [each for each in self.app.button if label in shown(each.label)]
        button.click()
        self.look()

    def press_key(self, beginning: str) -> None:
        """Presses the only button whose key begins like this."""
        [button] = [each for each in self.app.button if str(each.key).startswith(beginning)]
        button.click()
        self.look()

    def pick(self, title: str, value: str) -> None:
        """`title`: key of the picker's text."""
        self.picker(title).set_value(value)
        self.look()

    def picker(self, title: str) -> Selectbox:
        """`title`: as in `pick`."""
        [picker] = [each for each in self.app.selectbox if each.label == self.words[title]]
        return picker

    def number(self, title: str) -> NumberInput:
        """`title`: as in `pick`."""
        [field] = [each for each in self.app.number_input if each.label == self.words[title]]
        return field

    def picked(self, title: str) -> str:
        return self.picker(title).value

    def ask(self, question: str) -> PastRun:
        """Asks and waits for the end of the run, with any result."""
        self.app.chat_input[0].set_value(question)
        self.look()
        return self.wait()

    def wait(self) -> PastRun:
        """Waits until the latest run of the conversation has ended."""
        latest = engine().history.runs(self.conversation)[-1]
        engine().run(latest.id).result()
        self.look()
        return engine().history.run(latest.id)

    @property
    def _pipelines(self) -> list[str]:
        return [self.words[f"pipeline.{name}"] for name in PIPELINES]

"""The chat page, used as in one browser tab, but without a browser: with Streamlit's AppTest."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Selectbox

from pages.process import engine
from pages.texts import texts
from pages.words import WORD_JOINER
from rag.pipelines import PIPELINES
from rag.runs.history.history import PastRun
from rag.text.language import Language

INDEX_PAGE = Path(__file__).parent.parent.parent / "pages" / "index.py"


def shown(label: str) -> str:
    """A label in Markdown as people read it: without escapes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", label).replace(WORD_JOINER, "")


class ChatPage:
    def __init__(self, language: Language = "en", conversation: str | None = None, branch: str | None = None) -> None:
        self.words = texts(language)
        self.app = AppTest.from_file(INDEX_PAGE, default_timeout=30)
        self.app.query_params["lang"] = language
        if conversation:
            self.app.query_params["c"] = conversation
        if branch:
            self.app.query_params["b"] = branch
        self.look()

    def look(self) -> "ChatPage":
        self.app.run()
        assert not self.app.exception, self.app.exception
        return self

    @property
    def conversation(self) -> str | None:
        return self._address("c")

    @property
    def branch(self) -> str | None:
        return self._address("b")

    @property
    def buttons(self) -> list[str]:
        return [shown(button.label) for button in self.app.button]

    @property
    def answers(self) -> list[str]:
        """As HTML."""
        return [each.value for each in self.app.html if 'class="answer"' in each.value]

    @property
    def questions(self) -> list[str]:
        """As HTML."""
        return [each.value for each in self.app.html if 'class="question"' in each.value]

    @property
    def traces(self) -> list[str]:
        """The folded lines above the answers."""
        return [each.label for each in self.app.expander if any(name in each.label for name in self._pipelines)]

    @property
    def errors(self) -> list[str]:
        return [shown(each.value) for each in self.app.error]

    @property
    def told(self) -> str:
        """What the page says about jobs, as HTML."""
        return "".join(each.value for each in self.app.html if 'class="job"' in each.value)

    def press(self, label: str) -> None:
        [button] = [each for each in self.app.button if label in shown(each.label)]
        button.click()
        self.look()

    def pick(self, title: str, value: str) -> None:
        """`title`: key of the picker's text."""
        self._picker(title).set_value(value)
        self.look()

    def number(self, title: str) -> NumberInput:
        """`title`: as in `pick`."""
        [field] = [each for each in self.app.number_input if each.label == self.words[title]]
        return field

    def picked(self, title: str) -> str:
        return self._picker(title).value

    def _picker(self, title: str) -> Selectbox:
        [picker] = [each for each in self.app.selectbox if each.label == self.words[title]]
        return picker

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

    def _address(self, name: str) -> str | None:
        named = self.app.query_params.get(name)
        return named[0] if isinstance(named, list) else named

    @property
    def _pipelines(self) -> list[str]:
        return [self.words[f"pipeline.{name}"] for name in PIPELINES]

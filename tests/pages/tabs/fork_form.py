"""The form below a step, which changes it."""

from pages.server import process
from rag.runs.run.run import Run
from rag.trace.events import RunStarted
from tests.pages.tabs.app_page import shown
from tests.pages.tabs.chat_page import ChatPage


def trace_of(run: Run, language: str = "en", *unfolded: str) -> ChatPage:
    """The chat page with the run's trace open. `unfolded`: keys of more folds that are open."""
    return ChatPage(language, conversation=run.conversation_id, unfolded=(f"trace-{run.id}", *unfolded))


class Form:
    """The form below a step of a run that has ended."""

    def __init__(self, origin: Run, step: str, language: str = "en", attempt: int = 1) -> None:
        self.origin = origin
        self.key = f"change-past-{origin.id}-{step}-{attempt}"
        self.page = trace_of(origin, language, self.key)
        self.words = self.page.words

    def choose(self, what: str) -> None:
        self.page.app.segmented_control(key=f"what-{self.key}").set_value(what)
        self.page.look()

    def widget(self, kind: str, name: str):
        [found] = [each for each in self.page.app.get(kind) if each.key == f"{name}-{self.key}"]
        return found

    def set(self, kind: str, name: str, value: object) -> None:
        self.widget(kind, name).set_value(value)
        self.page.look()

    @property
    def ticks(self) -> dict[str, bool]:
        """Whether each check box is ticked, by its label."""
        return {shown(each.label): each.value for each in self.page.app.checkbox if each.key.endswith(self.key)}

    @property
    def told(self) -> str:
        app = self.page.app
        return "\n".join(shown(each.value) for each in (*app.caption, *app.warning, *app.error, *app.markdown))

    def run_on(self) -> None:
        next(each for each in self.page.app.button if each.key == f"run-on-{self.key}").click()
        self.page.look()

    @property
    def fork(self) -> RunStarted | None:
        """The first event of the fork; None if there is no fork."""
        runs = [each for each in process.engine().history.runs() if each.id != self.origin.id]
        if not runs:
            return None
        if live := process.engine().run(runs[-1].id):
            live.result()
        return process.engine().history.events(runs[-1].id)[0]

"""How a detail of a step is shown: a View for each type of detail, or its JSON if there is none."""

from abc import ABC, abstractmethod
from html import escape
from typing import Any, Generic, TypeVar

from pages.words.say import say
from rag.trace.details import Detail, UnknownDetail

D = TypeVar("D")

_views: "dict[type, type[View[Any]]]" = {}


class View(ABC, Generic[D]):
    """A detail as people see it. Defining a subclass registers it:

        class KeywordsView(View[KeywordsDetail], of=KeywordsDetail): ...

    Put it into the module of its subject; `detail.py` imports these modules.
    """

    def __init__(self, detail: D, index: str) -> None:
        """`index`: the index that the run searched; empty if nothing can be looked up in it."""
        self.detail = detail
        self.index = index

    def __init_subclass__(cls, *, of: type | None = None) -> None:
        super().__init_subclass__()
        if of is not None:
            _views[of] = cls

    @abstractmethod
    def summary(self) -> str:
        """A few words of plain text, for the row of its step."""

    def html(self) -> str:
        """The whole detail, for readers who open the row. Text from documents, models and people is escaped."""
        return ""


class JsonView(View[Detail]):
    """A detail whose type has no view."""

    def summary(self) -> str:
        return self.detail.type.replace("_", " ")

    def html(self) -> str:
        return f"<pre>{escape(self.detail.model_dump_json(indent=2))}</pre>"


class UnknownView(View[UnknownDetail], of=UnknownDetail):
    def summary(self) -> str:
        return f"{say('step.unknown')} {self.detail.named}"

    def html(self) -> str:
        return f"<pre>{escape(self.detail.stored)}</pre>"


def view_of(detail: Detail, index: str) -> View[Any]:
    return _views.get(type(detail), JsonView)(detail, index)

"""How the detail of a step is shown: a View for each type of detail, and its JSON where there is none."""

from abc import ABC, abstractmethod
from html import escape
from typing import Any, Generic, TypeVar

from pages.words import say
from rag.trace.details import Detail, UnknownDetail

D = TypeVar("D")

_views: "dict[type, type[View[Any]]]" = {}


class View(ABC, Generic[D]):
    """A detail as people see it. To define one is to register it:

        class KeywordsView(View[KeywordsDetail], of=KeywordsDetail): ...

    It stands in the module of its subject, among those that `detail.py` imports.
    """

    def __init__(self, detail: D, index: str) -> None:
        """`index`: the one that the run searched; empty where nothing can be looked up in it."""
        self.detail = detail
        self.index = index

    def __init_subclass__(cls, *, of: type | None = None) -> None:
        super().__init_subclass__()
        if of is not None:
            _views[of] = cls

    @abstractmethod
    def summary(self) -> str:
        """In a few words, for the row of its step: plain text."""

    def html(self) -> str:
        """In full, for whoever opens the row. What documents, models and people wrote is escaped in it."""
        return ""


class JsonView(View[Detail]):
    """A detail of a type that has no view of its own."""

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

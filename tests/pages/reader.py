"""Pages' functions as a reader of one language gets them: inside a real run of a Streamlit script."""

from collections.abc import Callable
from typing import TypeVar

from streamlit.testing.v1 import AppTest

from rag.text.language import Language

T = TypeVar("T")


def for_reader(language: Language, work: Callable[[], T]) -> tuple[T, AppTest]:
    """What `work` returns, and the page that it has drawn."""

    def script(work, results):
        results.append(work())

    results: list[T] = []
    page = AppTest.from_function(script, args=(work, results))
    page.query_params["lang"] = language
    page.run()
    assert not page.exception, page.exception
    return results[0], page

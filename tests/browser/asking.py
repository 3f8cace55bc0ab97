"""Answers that a test holds half way, and what it asks for them."""

from threading import Event
from uuid import uuid4

from playwright.sync_api import expect

from tests.browser.visitor import LOADED
from tests.servers import Answer

WORDS = "A director approves the green car [1]. " + "One word after another. " * 30
ENDLESS = Answer(WORDS, token_seconds=0.01, until=Event())
"""only half of it arrives, so the run has to be stopped"""
GONE = 60
"""seconds within which a service notices that the app has left"""


def held() -> Answer:
    """An answer of which half arrives, and the rest after `until.set()`."""
    return Answer(WORDS, token_seconds=0.01, until=Event())


def script(server, question: str, answer: str | Answer) -> None:
    server.answer_when(lambda request: request.schema is None and question in request.prompt, answer)


def requests_for(server, question: str) -> list:
    """The requests for an answer, without those for grades."""
    return [request for request in server.chats if request.schema is None and question in request.prompt]


def ask(loaded, server, answer: Answer) -> str:
    """Asks a question, and waits until the page shows the beginning of the answer."""
    question = f"Who approves the green car of department {uuid4().hex[:8]}?"
    script(server, question, answer)
    loaded.ask(question)
    expect(loaded.answers.last).to_contain_text("One", timeout=LOADED)
    return question

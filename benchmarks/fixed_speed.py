"""A chat service that takes the same time for every call. Its process loads none of what is measured."""

from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.servers import Answer, OpenAIServer
from tests.servers.chat import CHARACTERS_A_TOKEN, ChatRequest


@dataclass(frozen=True)
class Speed:
    """Of the server, the same for every call."""

    delay: float
    """seconds before the first token"""
    token_seconds: float
    tokens: int
    """a call"""


def serve(parent: Connection, speed: Speed) -> None:
    """Until the parent closes its end, or dies."""
    length = speed.tokens * CHARACTERS_A_TOKEN
    verdict = '{"reason": "It holds the answer.", "verdict": "yes", "score": 0.9}'.ljust(length)
    route = '{"reason": "A rule of the house.", "route": "documents"}'.ljust(length)
    words = '{"words": ["characters", "company password"]}'.ljust(length)
    answer = ("A password has at least 14 characters [1]. " * speed.tokens)[:length]
    with OpenAIServer(delay=speed.delay, token_seconds=speed.token_seconds, tokens=speed.tokens) as server:

        def reply(request: ChatRequest) -> Answer:
            if request.schema is None:
                return Answer(answer)
            asked = request.schema["properties"]
            return Answer(words if "words" in asked else route if "route" in asked else verdict)

        server.default = reply
        parent.send(server.base_url)
        parent.poll(None)

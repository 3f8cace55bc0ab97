"""A chat service that takes the same time for every call. Its process loads nothing of what is measured."""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection

from tests.servers import Answer, OpenAIServer
from tests.servers.chat import CHARACTERS_A_TOKEN, ChatRequest

NEVER_SERVED = "Why must a company password have so many characters?"
"""a question for which the server grades no answer as useful, and rewrites in different words each time"""


@dataclass(frozen=True)
class Speed:
    """The speed of the server, the same for every call."""

    delay: float
    """seconds before the first token"""
    token_seconds: float
    tokens: int
    """tokens of a call"""

    @staticmethod
    def add_options(parser: ArgumentParser, usual: "Speed") -> None:
        parser.add_argument("--delay", type=float, default=usual.delay, help="seconds before the first token of a call")
        parser.add_argument("--token-seconds", type=float, default=usual.token_seconds, help="seconds a token")
        parser.add_argument("--tokens", type=int, default=usual.tokens, help="tokens a call")

    @classmethod
    def of(cls, options: Namespace) -> "Speed":
        return cls(options.delay, options.token_seconds, options.tokens)

    def __str__(self) -> str:
        """A call takes 300 ms, then 10 ms a token, 60 tokens."""
        delay, token = (f"{1000 * seconds:g} ms" for seconds in (self.delay, self.token_seconds))
        return f"A call takes {delay}, then {token} a token, {self.tokens} tokens."


def serve(parent: Connection, speed: Speed) -> None:
    """Runs until the parent closes its end or dies."""
    length = speed.tokens * CHARACTERS_A_TOKEN
    verdict = '{"reason": "It holds the answer.", "verdict": "yes", "score": 0.9}'.ljust(length)
    route = '{"reason": "A rule of the house.", "route": "documents"}'.ljust(length)
    words = '{"words": ["characters", "company password"]}'.ljust(length)
    useless = verdict.replace("yes", "no").replace("0.9", "0.1")
    answer = ("A password has at least 14 characters [1]. " * speed.tokens)[:length]
    numbers = count(1)
    with OpenAIServer(delay=speed.delay, token_seconds=speed.token_seconds, tokens=speed.tokens) as server:

        def reply(request: ChatRequest) -> Answer:
            is_served = NEVER_SERVED not in request.prompt
            if request.schema is None:
                return Answer(answer if is_served else f"No {next(numbers)}: {answer}"[:length])
            asked = request.schema["properties"]
            if "rating" in asked and not is_served:
                return Answer(useless)
            return Answer(words if "words" in asked else route if "route" in asked else verdict)

        server.default = reply
        parent.send(server.base_url)
        parent.poll(None)

"""An embedding service that can be made to wait and to refuse texts."""

from http import HTTPStatus

from tests.servers import OpenAIServer, Refusal
from tests.servers.chat import ChatRequest
from tests.servers.loopback import Connection, Fault
from tests.servers.openai_server import EMBEDDINGS

LOOK = 0.02
"""seconds between two checks whether requests must still wait"""


class EmbeddingService(OpenAIServer):
    def __init__(self) -> None:
        super().__init__()
        self.is_held = False
        """whether requests wait until it is False again"""
        self.let_through: str | None = None
        """a request with these words does not wait"""
        self.passes = 0
        """number of requests that do not wait"""
        self.refused: str | None = None
        """a request with this word is refused as a whole"""
        self.most: int | None = None
        """a request with more texts is refused with `too_many`"""
        self.too_many = HTTPStatus.BAD_REQUEST

    @property
    def calls(self) -> list[list[str]]:
        """The texts of each request so far."""
        inputs = [request.body["input"] for request in self.requests if request.path == EMBEDDINGS]
        return [[given] if isinstance(given, str) else given for given in inputs]

    @property
    def texts(self) -> list[str]:
        """All texts of the requests so far."""
        return [text for texts in self.calls for text in texts]

    def _embed(self, request: ChatRequest, connection: Connection, fault: Fault | None) -> None:
        if self.passes:
            self.passes -= 1
        else:
            while self.is_held and not (self.let_through and self.let_through in request.text):
                connection.wait(LOOK)
        if self.refused and self.refused in request.text:
            return self.refuse(connection, Refusal(HTTPStatus.BAD_REQUEST, "This text is too long."))
        if self.most and len(request.body["input"]) > self.most:
            return self.refuse(connection, Refusal(self.too_many, f"At most {self.most} texts."))
        return super()._embed(request, connection, fault)

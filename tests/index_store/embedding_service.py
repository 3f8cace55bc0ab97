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

    @property
    def texts(self) -> list[str]:
        """All texts of the requests so far."""
        inputs = [request.body["input"] for request in self.requests if request.path == EMBEDDINGS]
        return [text for given in inputs for text in ([given] if isinstance(given, str) else given)]

    def _embed(self, request: ChatRequest, connection: Connection, fault: Fault | None) -> None:
        if self.passes:
            self.passes -= 1
        else:
            while self.is_held and not (self.let_through and self.let_through in request.text):
                connection.wait(LOOK)
        if self.refused and self.refused in request.text:
            return self.refuse(connection, Refusal(HTTPStatus.BAD_REQUEST, "This text is too long."))
        return super()._embed(request, connection, fault)

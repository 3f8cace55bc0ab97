"""Tavily's web search with scripted results.

Source: https://docs.tavily.com/documentation/api-reference/endpoint/search. Point the client at it with
`TavilyClient(api_base_url=server.url)`; no environment variable does.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus

from tests.servers.loopback import Connection, Fault, LoopbackServer, Refusal, Request
from tests.servers.script import Script

SEARCH = "/search"


@dataclass(frozen=True)
class WebResult:
    title: str
    url: str
    content: str
    score: float = 0.9
    published_date: str | None = None
    """sent only with news"""


@dataclass(eq=False)
class SearchRequest(Request):
    @property
    def query(self) -> str:
        return self.body.get("query", "")

    @property
    def is_keyless(self) -> bool:
        return self.headers.get("x-tavily-access-mode") == "keyless"


Reply = list[WebResult] | Refusal | Fault
Scripted = Reply | Callable[[SearchRequest], Reply]


class TavilyServer(LoopbackServer):
    """
    with TavilyServer(key="tvly-test") as server:
        server.default = [WebResult("A title", "https://example.com/a", "What it says.")]
        ...
        assert server.queries == ["the question"]
    """

    request_type = SearchRequest

    def __init__(self, *, key: str | None = None, delay: float = 0) -> None:
        super().__init__(key=key)
        self.delay = delay
        self._script: Script[SearchRequest, Scripted] = Script([])
        self.enqueue = self._script.enqueue
        self.answer_when = self._script.answer_when
        self.routes = {("POST", SEARCH): self._search}

    @property
    def default(self) -> Scripted:
        return self._script.default

    @default.setter
    def default(self, reply: Scripted) -> None:
        self._script.default = reply

    @property
    def queries(self) -> list[str]:
        return [request.query for request in self.requests]

    def refusal_body(self, refusal: Refusal) -> dict:
        return {"detail": {"error": refusal.message or HTTPStatus(refusal.status).phrase}}

    def _search(self, request: SearchRequest, connection: Connection, fault: Fault | None) -> None:
        reply = self._script.reply_to(request)
        reply = reply(request) if callable(reply) else reply
        if reply in (Fault.HANGS, Fault.CLOSES) or isinstance(reply, Refusal):
            return self.respond(request, connection, reply)
        if isinstance(reply, Fault):
            fault, reply = reply, []
        connection.wait(self.delay)
        results = [asdict(result) | {"raw_content": None} for result in reply][: request.body.get("max_results", 5)]
        body = {
            "query": request.query,
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": results,
            "response_time": 0.1,
            "request_id": "loopback",
        }
        return connection.send_json(HTTPStatus.OK, body, fault=fault)

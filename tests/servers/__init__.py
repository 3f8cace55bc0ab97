"""Services for tests on loopback: real HTTP for the real clients, with answers and faults that a test chooses.

    loopback.py       the HTTP server: records requests, causes faults, notices a client that leaves
    script.py         what is answered: to whom, in which order
    chat.py           a chat completion in OpenAI's protocol, whole or streamed
    embeddings.py     vectors that are near for similar texts
    openai_server.py  OpenAIServer: chat, embeddings, models
    tavily_server.py  TavilyServer: web search
    site_server.py    SiteServer: a web site that can misbehave
    name_server.py    NameServer: names that change their addresses
    chroma.py         ChromaServer: Chroma's own, and a proxy in front of it that delays or refuses requests
    postgres.py       PostgresServer: Debian's
    s3.py             S3Server: moto's, and a port in front of it that can be slow, silent or closed

They follow the protocols of OpenAI and Tavily as far as this project's clients use them, and check nothing else.
"""

from tests.servers.chat import Answer, Raw, chunk
from tests.servers.loopback import Fault, Refusal, Request
from tests.servers.openai_server import OpenAIServer
from tests.servers.tavily_server import TavilyServer, WebResult

__all__ = ["Answer", "Fault", "OpenAIServer", "Raw", "Refusal", "Request", "TavilyServer", "WebResult", "chunk"]

"""Web search: its services, and one form for their results."""

from rag.settings import Settings
from rag.web.duckduckgo import DuckDuckGo
from rag.web.search import WebResult, WebSearch
from rag.web.tavily import Tavily

__all__ = ["DuckDuckGo", "Tavily", "WebResult", "WebSearch", "web_search"]


def web_search(settings: Settings) -> WebSearch | None:
    """The web search in the settings, or None. Questions leave the company only if someone has allowed it, by a key or
    by the service's name.
    """
    if settings.web_search == "duckduckgo":
        return DuckDuckGo()
    # Without a key, Tavily's client would send queries without one.
    key = settings.tavily_api_key
    return Tavily(key, settings.tavily_base_url) if settings.web_search == "tavily" and key else None

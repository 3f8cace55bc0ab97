"""The kinds of chat model, and the choice among them by the settings."""

from collections.abc import Callable

from rag.errors import NoChatModel
from rag.models.chat_model import ModelSource
from rag.models.embedded.source import EmbeddedSource
from rag.models.service.source import ServiceSource
from rag.settings import EMBEDDED, SERVICE, Settings

SOURCES: dict[str, Callable[[Settings], ModelSource]] = {
    SERVICE: ServiceSource,
    EMBEDDED: EmbeddedSource,
}


def model_source(settings: Settings) -> ModelSource:
    """Raises NoChatModel."""
    if settings.chat_model_kind not in SOURCES:
        raise NoChatModel
    return SOURCES[settings.chat_model_kind](settings)

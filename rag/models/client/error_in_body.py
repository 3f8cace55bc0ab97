"""Finds the error in a response with status 200: some services, such as OpenRouter, answer so."""

import json
from http import HTTPStatus

import httpx2

from index_store.base.service import status_in


async def read_status(response: httpx2.Response) -> None:
    """A response hook of an HTTP client: gives such a response the status of its error. Then the openai client treats
    it as any other error.
    """
    if response.status_code != HTTPStatus.OK or "json" not in response.headers.get("content-type", ""):
        return
    try:
        body = json.loads(await response.aread())
    except (ValueError, RecursionError):
        return
    if isinstance(body, dict) and body.get("error"):
        response.status_code = status_in(body["error"])

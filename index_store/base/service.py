"""Turns refusals of an OpenAI-compatible service into plain errors, and writes into the log what the service said."""

import json
import logging
from urllib.parse import urlsplit

import openai

from index_store.base import errors

log = logging.getLogger(__name__)

MOST_LOGGED = 500
"""characters of what a service said: enough for its reason, too few for a document that it may repeat"""

SHORTEST_SECRET = 8
"""characters; a shorter one, such as the placeholder of a server without keys, is a common word"""

OPENAI_URL = "https://api.openai.com/v1"


def host_of(base_url: str | None) -> str:
    """Only host and port: an address may hold a user name, a password or a key."""
    parts = urlsplit(base_url or OPENAI_URL)
    host = parts.hostname or "?"
    return f"{host}:{parts.port}" if parts.port else host


def explain(error: openai.OpenAIError, *, base_url: str | None, model: str) -> errors.ServiceError:
    """The error of errors/service.py that says in plain words what `error` means and what to do."""
    host = host_of(base_url)
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        _log(error, host, model)
    match error:
        case openai.APITimeoutError():
            return errors.ServiceTimedOut(host=host)
        case openai.APIConnectionError():
            return errors.ServiceUnreachable(host=host)
        case openai.APIStatusError(status_code=401 | 403):
            return errors.KeyRefused(host=host, model=model)
        case openai.APIStatusError(status_code=402):
            return errors.QuotaUsedUp(host=host)
        case openai.APIStatusError(status_code=404):
            return errors.ModelUnknown(host=host, model=model)
        case openai.APIStatusError(status_code=429):
            used_up = "insufficient_quota" in (error.code, error.type)
            return errors.QuotaUsedUp(host=host) if used_up else errors.ServiceBusy(host=host)
        case openai.APIStatusError(status_code=status) if status >= 500:
            return errors.ServiceFailed(host=host, status=status)
        case openai.APIStatusError(status_code=status):
            return errors.RequestRefused(host=host, model=model, status=status)
        case _:
            return errors.AnswerUnreadable(host=host, model=model)


def _log(error: openai.APIError, host: str, model: str) -> None:
    """One line: the sentence for people does not have the service's own words."""
    status = error.status_code if isinstance(error, openai.APIStatusError) else "-"
    reason = f"status {status}, code {error.code}, param {error.param}: {said_in(error.body)}"
    for secret in _secrets(error):
        reason = reason.replace(secret, "***")
    log.warning("%s refused a request to %s: %s", host, model, " ".join(reason.split())[:MOST_LOGGED])


def said_in(body: object) -> str:
    """The message of a refusal; else all of it, except what it repeats of the request."""
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        body = body["message"]
    if isinstance(body, str):
        return body
    return json.dumps(json.loads(json.dumps(body), object_hook=_without_input), ensure_ascii=False)


def _without_input(each: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in each.items() if name != "input"}


def _secrets(error: openai.APIError) -> list[str]:
    """What the request was sent with, and the service may repeat: the key, and parts of the address."""
    request = error.request
    key = request.headers.get("authorization", "").partition(" ")[2]
    known = [key, request.url.password, *request.url.params.values()]
    return [secret for secret in known if len(secret) >= SHORTEST_SECRET]

"""Turns refusals of an OpenAI-compatible service into plain errors."""

from urllib.parse import urlsplit

import openai

from index_store.base import errors

OPENAI_URL = "https://api.openai.com/v1"


def host_of(base_url: str | None) -> str:
    """Only host and port: an address may hold a user name, a password or a key."""
    parts = urlsplit(base_url or OPENAI_URL)
    host = parts.hostname or "?"
    return f"{host}:{parts.port}" if parts.port else host


def explain(error: openai.OpenAIError, *, base_url: str | None, model: str) -> errors.ServiceError:
    """The error of errors/service.py that says in plain words what `error` means and what to do."""
    host = host_of(base_url)
    match error:
        case openai.APITimeoutError():
            return errors.ServiceTimedOut(host=host)
        case openai.APIConnectionError():
            return errors.ServiceUnreachable(host=host)
        case openai.APIStatusError(status_code=401 | 403):
            return errors.KeyRefused(host=host, model=model)
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

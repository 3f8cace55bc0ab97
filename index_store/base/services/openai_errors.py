"""Turns refusals of an OpenAI-compatible service into plain errors, and writes into the log what the service said."""

import json
import logging
import re
import ssl
from http import HTTPStatus

import openai

from index_store.base import errors
from index_store.base.errors.causes import causes
from index_store.base.services.service_address import host_of
from index_store.base.settings.settings import SHORTEST_SECRET

log = logging.getLogger(__name__)

MOST_LOGGED = 500
"""characters of what a service said: enough for its reason, too few for a document that it may repeat"""

STATUSES = {"insufficient_quota": 429, "rate_limit_exceeded": 429, "overloaded": 503, "overloaded_error": 503}
"""the status that the name of an error stands for, where services give no number"""

NO_SUCH_MODEL = (
    "model_not_found", "not a valid model", "model not exist", "invalid model:", "invalid model name",
    "unsupported model", "model_decommissioned",
)  # fmt: skip
"""words of LM Studio, OpenRouter, DeepSeek, Mistral, LiteLLM, Bedrock's gateway and Groq, which refuse the name of a
model with status 400"""

NO_SUCH_ADDRESS = "unexpected endpoint"
"""words of LM Studio, which answers with status 200 if the address lacks its /v1"""

USED_UP = ("insufficient_quota", "billing_", "budget_exceeded", "credit balance is too low")
"""words of OpenAI, LiteLLM and Anthropic that refuse a request because it can't be paid, with status 400 or 429"""

TOO_LONG = (
    "context_length_exceeded", "context length", "context window", "context size", "context limit",
    "contextwindowexceeded", "exceed_context_size", "prompt is too long", "input is too long", "maximum prompt length",
    "maximum number of tokens allowed", "too many tokens:", "`max_new_tokens` must be", "`inputs` must have less than",
    "too large to process", "text cannot exceed", "request too large",
)  # fmt: skip
"""words of OpenAI, vLLM, SGLang, LM Studio, Ollama, llama.cpp, Anthropic, LiteLLM, Bedrock, xAI, Gemini, Cohere, TGI,
TEI and Jina that refuse a prompt, or a text to embed, for its length. The last are OpenAI's, with status 429, for more
tokens than the account may send in a minute, however long one waits"""


def explain(error: openai.OpenAIError, *, base_url: str | None, model: str) -> errors.ServiceError:
    """The error of errors/service.py that says in plain words what `error` means and what to do."""
    host = host_of(base_url)
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        _log(error, host, model)
    match error:
        case openai.APITimeoutError():
            return errors.ServiceTimedOut(host=host)
        case openai.APIConnectionError():
            is_untrusted = any(isinstance(each, ssl.SSLCertVerificationError) for each in causes(error))
            return errors.ServiceUntrusted(host=host) if is_untrusted else errors.ServiceUnreachable(host=host)
        case openai.APIResponseValidationError():
            return errors.AnswerUnreadable(host=host, model=model)
        case openai.APIStatusError(status_code=status):
            return _of_status(status, error, host, model)
        case openai.APIError():  # an event of a stream
            return _of_status(status_in(error.body), error, host, model)
        case _:
            return errors.AnswerUnreadable(host=host, model=model)


def is_too_long(error: openai.APIError) -> bool:
    """True if the service refuses a prompt, or a text to embed, for its length."""
    said = f"{error.code} {error.type} {said_in(error.body)}".lower()
    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    return status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or any(words in said for words in TOO_LONG)


def status_in(error: object) -> int:
    """The status of an error that comes with status 200, in a body or in a stream. 500 if it names none."""
    if isinstance(error, str) and NO_SUCH_ADDRESS in error.lower():
        return 404
    named = (error.get("code"), error.get("type")) if isinstance(error, dict) else ()
    for name in map(str, named):
        if name in STATUSES:
            return STATUSES[name]
        if re.fullmatch(r"[45]\d\d", name, re.ASCII):
            return int(name)
    return 500


def _of_status(status: int, error: openai.APIError, host: str, model: str) -> errors.ServiceError:
    said = f"{error.code} {error.type} {said_in(error.body)}".lower()
    match status:
        case 401 | 403:
            return errors.KeyRefused(host=host, model=model)
        case 400 if "api key" in said:  # Gemini
            return errors.KeyRefused(host=host, model=model)
        case 400 if any(words in said for words in NO_SUCH_MODEL):
            return errors.ModelUnknown(host=host, model=model)
        case 400 | 429 if any(words in said for words in USED_UP):
            return errors.QuotaUsedUp(host=host)
        case 402:
            return errors.QuotaUsedUp(host=host)
        case 404 | 405:  # a page at a wrong address may refuse the method
            return errors.ModelUnknown(host=host, model=model)
        case 408:
            return errors.ServiceTimedOut(host=host)
        case 429:
            return errors.ServiceBusy(host=host)
        case _ if status >= 500:
            return errors.ServiceFailed(host=host, status=status)
    return errors.RequestRefused(host=host, model=model, status=status)


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

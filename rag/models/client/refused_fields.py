"""Fields of a request that some services refuse: they are left out, or sent under another name, from then on."""

from collections.abc import Mapping
from typing import Any

import openai

from index_store.base.errors import RequestRefused
from index_store.base.services.openai_errors import said_in
from rag.models.calls.prompt import Prompt

TEMPERATURE, LENGTH, COUNT = "temperature", "max_completion_tokens", "stream_options"
"""by their names in OpenAI's protocol. OpenAI's newest models refuse a temperature, Mistral the newer name of the limit
of a reply's length, and some servers the request for the count of tokens"""

OLDER_LENGTH = "max_tokens"
"""its older name. Ollama and llama-cpp-python ignore the newer one; OpenAI's newest models refuse the older one"""

STREAM = "stream"
"""OpenAI refuses it for some models to organizations that are not verified: their replies come whole"""

SYSTEM = "system"
"""a role, not a field: for models without it, the instructions stand in the first message"""

NO_SYSTEM = ("system role not supported", "developer instruction is not enabled", "does not support 'system'")
"""words with which vLLM refuses it for Gemma 2, Gemini for Gemma 3, and OpenAI for its first reasoning models"""

ALL = (TEMPERATURE, LENGTH, OLDER_LENGTH, COUNT)
"""whose names tell them apart in the words of a refusal"""

Fields = frozenset[str]
Options = dict[str, Any]


class RefusedFields:
    """What a model has refused so far."""

    def __init__(self, length: int | None, *, both: bool) -> None:
        """`length`: the limit of a reply's length, in tokens. `both`: it is sent under both names, until the model
        refuses one of them.
        """
        self._length = length
        self._known: set[tuple[str, object]] = set() if both else {(OLDER_LENGTH, None)}

    def known(self, options: Mapping[str, Any], *, streams: bool) -> Fields:
        """The fields to leave out of a request."""
        refused = frozenset(name for name in (*ALL, STREAM, SYSTEM) if _key(name, options) in self._known)
        return refused if streams else refused - {COUNT, STREAM}

    def note(self, options: Mapping[str, Any], refused: Fields) -> None:
        """Remembers fields after the call worked without them."""
        self._known |= {_key(name, options) for name in refused}

    def sent(self, options: Mapping[str, Any], refused: Fields) -> Options:
        """The request's options for ChatOpenAI."""
        sent = dict(options)
        if TEMPERATURE in refused:
            del sent[TEMPERATURE]
        if COUNT in refused and STREAM not in refused:
            sent["stream_usage"] = False
        if LENGTH in refused or OLDER_LENGTH not in refused:
            # ChatOpenAI itself sends the limit only under its newer name, whatever it is called in the options.
            sent["extra_body"] = {OLDER_LENGTH: options.get(OLDER_LENGTH, self._length)}
        if LENGTH in refused:
            sent.pop(OLDER_LENGTH, None)
            sent[LENGTH] = openai.omit
        return sent


def prompt_sent(prompt: Prompt, refused: Fields) -> Prompt:
    """The messages of a request, each with its role."""
    if SYSTEM not in refused:
        return list(prompt)
    instructions = [text for role, text in prompt if role == "system"]
    (role, text), *others = ((role, text) for role, text in prompt if role != "system")
    return [(role, "\n\n".join((*instructions, text))), *others]


def _key(name: str, options: Mapping[str, Any]) -> tuple[str, object]:
    """Each temperature is separate: some models refuse only values above 1."""
    return name, options[TEMPERATURE] if name == TEMPERATURE else None


def more_refused(error: RequestRefused, refused: Fields) -> Fields:
    """`refused` with the fields that the refusal names; raises `error` if it names no other."""
    # OpenAI says "Unsupported value: 'temperature' does not support 0 with this model."; other servers use other texts.
    fault = error.__cause__
    said = f"{fault.param} {said_in(fault.body)}" if isinstance(fault, openai.APIError) else ""
    named = frozenset(name for name in ALL if name in said)
    if isinstance(fault, openai.APIError) and fault.param == STREAM:
        named |= {STREAM}
    if any(words in said.lower() for words in NO_SYSTEM):
        named |= {SYSTEM}
    if named <= refused:
        raise error
    if OLDER_LENGTH in named - refused:
        named -= {LENGTH}  # one name of the limit stays: a refusal of one, or of both together, may name the other too
    return refused | named

"""What an operator may set: the index store's settings, and those of answering. `.env.example` explains each name."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from index_store import settings as index_store

EMBEDDED = "embedded"
"""as CHAT_MODEL: the embedded model even where a service is set"""

SERVICE_CONTEXT = 16_384
"""tokens: what every model behind a key has, and most that are served at home can be given"""


class Settings(index_store.Settings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = index_store.Settings.allowed | {
        "embedded_model": ("a GGUF file", "GGUF ファイルの場所"),
        "model_context": ("a whole number from 4096 to 10000000", "4096〜10000000 の整数"),
        "max_rewrites": ("a whole number from 0 to 10", "0〜10 の整数"),
        "max_generations": ("a whole number from 1 to 10", "1〜10 の整数"),
        "run_time_limit": ("a number of seconds above 0", "0 より大きい秒数"),
    }

    chat_model: str = "gpt-4o-mini"
    embedded_model: Path | None = None
    """a file to serve in place of the one that is fetched"""
    model_context: int = Field(SERVICE_CONTEXT, ge=4096, le=10_000_000)
    """tokens that the service's model holds: passages are trimmed to fit it"""
    max_rewrites: int = Field(2, ge=0, le=10)
    """per run: how often a question may be reworded"""
    max_generations: int = Field(3, ge=1, le=10)
    """per run: how many answers may be written"""
    run_time_limit: float = Field(600, gt=0, allow_inf_nan=False)
    """seconds a run may take in all"""

    @property
    def uses_embedded_chat(self) -> bool:
        return self.chat_model == EMBEDDED or not self.service_is_set

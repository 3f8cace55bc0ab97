"""The settings of answering, in addition to those of the index store. `.env.example` explains each."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import AnyHttpUrl, Field, SecretStr, ValidationInfo, field_validator

from index_store.base import settings as index_store
from rag.trace.events import Style

SERVICE, EMBEDDED = "service", "embedded"
"""kinds of chat model; the latter as CHAT_MODEL: the embedded model even where a service is set"""

SERVICE_CONTEXT = 16_384
"""tokens: what every model behind a key has, and most that are served at home can be given"""

SERVICE_ANSWER = 2000
"""tokens: three times a long answer; a model that goes round in circles would otherwise never come to an end"""

TAVILY_URL = "https://api.tavily.com"


class Settings(index_store.Settings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = index_store.Settings.allowed | {
        "embedded_model": ("a GGUF file", "GGUF ファイルの場所"),
        "model_context": ("a whole number from 4096 to 10000000", "4096〜10000000 の整数"),
        "answer_tokens": ("a whole number from 100 to 1000000", "100〜1000000 の整数"),
        "max_rewrites": ("a whole number from 0 to 10", "0〜10 の整数"),
        "max_generations": ("a whole number from 1 to 10", "1〜10 の整数"),
        "answer_length": ("short, normal or long", "short、normal、long のいずれか"),
        "answer_tone": ("neutral, polite or plain", "neutral、polite、plain のいずれか"),
        "answer_temperature": ("a number from 0 to 2", "0〜2 の数"),
        "runs_at_once": ("a whole number of at least 1", "1 以上の整数"),
        "runs_per_person": ("a whole number of at least 1", "1 以上の整数"),
        "tokens_a_day": ("a whole number, 0 for no limit", "0 以上の整数(0 は無制限)"),
        "calls_at_once": ("a whole number of at least 1", "1 以上の整数"),
        "compare_models": (
            "names of the service's models separated by commas, without “embedded”",
            "カンマで区切った、サービスのモデル名(embedded は指定できません)",
        ),
        "run_time_limit": ("a number of seconds above 0", "0 より大きい秒数"),
        "run_call_limit": ("a whole number of at least 1", "1 以上の整数"),
        "run_token_limit": ("a whole number of at least 1000", "1000 以上の整数"),
        "suggest_follow_ups": ("service, always or off", "service、always、off のいずれか"),
        "preload": ("true or false", "true または false"),
        "keep_removed": ("true or false", "true または false"),
        "keep_prompts": ("true or false", "true または false"),
        "keep_checkpoints_days": ("a whole number from 0 to 3650", "0〜3650 の整数"),
        "retention_days": ("a whole number from 0 to 3650", "0〜3650 の整数"),
        "web_search": ("tavily, duckduckgo or off", "tavily、duckduckgo、off のいずれか"),
        "tavily_base_url": ("an http or https address", "http または https のアドレス"),
        "corrective_rule": ("scores or any", "scores または any"),
        "crag_lower": ("a number from 0 to CRAG_UPPER", "0〜CRAG_UPPER の数"),
        "crag_upper": ("a number from CRAG_LOWER to 1", "CRAG_LOWER〜1 の数"),
    }

    chat_model: str = "gpt-4o-mini"
    embedded_model: Path | None = None
    """a file to serve in place of the one that is fetched"""
    model_context: int = Field(SERVICE_CONTEXT, ge=4096, le=10_000_000)
    """tokens that the service's model holds: passages are trimmed to fit it"""
    answer_tokens: int = Field(SERVICE_ANSWER, ge=100, le=1_000_000)
    """that a reply of the service's model may have; a quarter of `model_context` at most"""
    max_rewrites: int = Field(2, ge=0, le=10)
    """per run: how often a question may be reworded"""
    max_generations: int = Field(3, ge=1, le=10)
    """per run: how many answers may be written"""
    draft_ahead: bool = True
    """begin an answer while its passages are graded, with a service's model; costs the tokens of drafts in vain"""
    answer_length: Literal["short", "normal", "long"] = "normal"
    answer_tone: Literal["neutral", "polite", "plain"] = "neutral"
    answer_temperature: float = Field(0, ge=0, le=2, allow_inf_nan=False)
    """of answers for which nothing else is asked"""
    runs_at_once: int = Field(50, ge=1)
    """with a service's model; others wait for their turn, and the embedded one answers one at a time"""
    runs_per_person: int = Field(5, ge=1)
    """of those; groups may have others, see index_store/access/limits.py"""
    tokens_a_day: int = Field(0, ge=0)
    """that all runs of a person may use from midnight to midnight; 0: no limit; groups as above"""
    calls_at_once: int = Field(250, ge=1)
    """to a service's model, of all runs: five each, as Self-RAG makes side by side, for as many runs as there may be"""
    compare_models: str = ""
    """names of the service's models that a column of a comparison may have instead, separated by commas"""
    run_time_limit: float = Field(600, gt=0, allow_inf_nan=False)
    """seconds a run may take in all, from its turn on"""
    run_call_limit: int = Field(100, ge=1)
    """calls to the chat model, per run"""
    run_token_limit: int = Field(200_000, ge=1000)
    """per run, read and written"""

    suggest_follow_ups: Literal["service", "always", "off"] = "service"
    """whether questions are suggested below an answer: by a service's model, by the embedded one too, or not at all"""
    preload: bool = True
    """whether the embedded model starts with the first page that is opened, not with the first question"""
    keep_removed: bool = False
    """whether stored traces go on quoting documents that were removed"""
    keep_prompts: bool = True
    """whether each call's messages and reply are kept with its run"""
    keep_checkpoints_days: int = Field(30, ge=0, le=3650)
    """how long a run can be changed at a step and run on from there; 0: not at all"""
    retention_days: int = Field(0, ge=0, le=3650)
    """that a conversation stays after its last question; 0: until someone deletes it"""

    web_search: Literal["tavily", "duckduckgo", "off"] = "tavily"
    """Tavily is asked only where it has a key"""
    tavily_api_key: SecretStr | None = None
    tavily_base_url: str = TAVILY_URL
    corrective_rule: Literal["scores", "any"] = "scores"
    """what sends a question to the web: the grades' scores, or any passage that is not relevant"""
    crag_lower: float = Field(0.4, ge=0, le=1, allow_inf_nan=False)
    """scores below it speak of nothing usable; see rag/nodes/grade_documents.py"""
    crag_upper: float = Field(0.7, ge=0, le=1, allow_inf_nan=False)
    """one score from it on is enough"""

    @field_validator("compare_models")
    @classmethod
    def _are_of_the_service(cls, names: str) -> str:
        if EMBEDDED in _parts(names):
            raise ValueError
        return names

    @field_validator("tavily_api_key")
    @classmethod
    def _blank_key_is_none(cls, key: SecretStr | None) -> SecretStr | None:
        return key if key and key.get_secret_value().strip() else None

    @field_validator("tavily_base_url")
    @classmethod
    def _is_a_web_address(cls, url: str) -> str:
        AnyHttpUrl(url.strip())
        return url.strip().rstrip("/")

    @field_validator("crag_upper")
    @classmethod
    def _is_not_below_lower(cls, upper: float, others: ValidationInfo) -> float:
        if upper < others.data.get("crag_lower", 0):
            raise ValueError
        return upper

    @property
    def style(self) -> Style:
        return Style(length=self.answer_length, tone=self.answer_tone, temperature=self.answer_temperature)

    @property
    def other_models(self) -> tuple[str, ...]:
        """That a run may be asked for by name; none beside the embedded one."""
        names = dict.fromkeys(_parts(self.compare_models)) if self.chat_model_kind == SERVICE else {}
        return tuple(name for name in names if name != self.chat_model)

    @property
    def chat_model_kind(self) -> str:
        return EMBEDDED if self.chat_model == EMBEDDED or not self.service_is_set else SERVICE


def _parts(names: str) -> list[str]:
    return [part.strip() for part in names.split(",") if part.strip()]

"""The settings of answering, in addition to those of the index store. `.env.example` explains each."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from index_store.base.settings import settings as index_store
from rag.trace.events import Style

SERVICE, EMBEDDED = "service", index_store.EMBEDDED
"""kinds of chat model; `embedded` as CHAT_MODEL means the embedded model even if a service is set"""

SERVICE_CONTEXT = 16_384
"""tokens: every model behind a key has that many, and most local servers can be given that many"""

SERVICE_ANSWER = 2000
"""tokens: three times a long answer; without a limit, a model that repeats itself would never end"""

TAVILY_URL = "https://api.tavily.com"


class Settings(index_store.Settings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = index_store.Settings.allowed | {
        "chat_model": index_store.MODEL,
        "embedded_model": ("a GGUF file", "GGUF ファイルの場所"),
        "model_context": ("a whole number from 4096 to 10000000", "4096〜10000000 の整数"),
        "answer_tokens": ("a whole number from 100 to 1000000", "100〜1000000 の整数"),
        "max_rewrites": ("a whole number from 0 to 10", "0〜10 の整数"),
        "max_generations": ("a whole number from 1 to 10", "1〜10 の整数"),
        "draft_ahead": ("true or false", "true または false"),
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
        "run_time_limit": index_store.SECONDS,
        "run_call_limit": ("a whole number of at least 1", "1 以上の整数"),
        "run_token_limit": ("a whole number of at least 1000", "1000 以上の整数"),
        "suggest_follow_ups": ("service, always or off", "service、always、off のいずれか"),
        "preload": ("true or false", "true または false"),
        "keep_removed": ("true or false", "true または false"),
        "keep_prompts": ("true or false", "true または false"),
        "keep_checkpoints_days": ("a whole number from 0 to 3650", "0〜3650 の整数"),
        "retention_days": ("a whole number from 0 to 3650", "0〜3650 の整数"),
        "web_search": ("tavily, duckduckgo or off", "tavily、duckduckgo、off のいずれか"),
        "tavily_api_key": index_store.KEY,
        "tavily_base_url": ("an http or https address", "http または https のアドレス"),
        "corrective_rule": ("scores or any", "scores または any"),
        "crag_lower": ("a number from 0 to CRAG_UPPER", "0〜CRAG_UPPER の数"),
        "crag_upper": ("a number from CRAG_LOWER to 1", "CRAG_LOWER〜1 の数"),
    }

    chat_model: str = "gpt-4o-mini"
    embedded_model: Path | None = None
    """a model file to use instead of the fetched one"""
    model_context: int = Field(SERVICE_CONTEXT, ge=4096, le=10_000_000)
    """tokens of the service model's context; passages are trimmed to it"""
    answer_tokens: int = Field(SERVICE_ANSWER, ge=100, le=1_000_000)
    """the most tokens of a reply of the service's model; at most a quarter of `model_context`"""
    max_rewrites: int = Field(2, ge=0, le=10)
    """per run: the most rewrites of a question"""
    max_generations: int = Field(3, ge=1, le=10)
    """per run: the most answers"""
    draft_ahead: bool = True
    """write speculative answers with a service's model; dropped ones cost tokens"""
    answer_length: Literal["short", "normal", "long"] = "normal"
    answer_tone: Literal["neutral", "polite", "plain"] = "neutral"
    answer_temperature: float = Field(0, ge=0, le=2, allow_inf_nan=False)
    """the default for answers"""
    runs_at_once: int = Field(50, ge=1)
    """runs with a service's model at the same time; others wait. The embedded model answers one at a time"""
    runs_per_person: int = Field(5, ge=1)
    """the most of these per person; groups may have other limits, see index_store/access/limits.py"""
    tokens_a_day: int = Field(0, ge=0)
    """the most tokens of all runs of a person, from midnight to midnight; 0: no limit; groups as above"""
    calls_at_once: int = Field(250, ge=1)
    """calls to a service's model at the same time, by all runs: five, as Self-RAG makes in parallel, for each possible
    run"""
    compare_models: str = ""
    """names of more service models for columns of comparisons, separated by commas"""
    run_time_limit: float = Field(600, gt=0, le=index_store.MOST_SECONDS, allow_inf_nan=False)
    """seconds for a run, from its turn on"""
    run_call_limit: int = Field(100, ge=1)
    """calls to the chat model, per run"""
    run_token_limit: int = Field(200_000, ge=1000)
    """per run, read and written"""

    suggest_follow_ups: Literal["service", "always", "off"] = "service"
    """who suggests questions below an answer: a service's model, the embedded one too, or nobody"""
    preload: bool = True
    """the embedded model starts when a first page opens, not at the first question"""
    keep_removed: bool = False
    """stored traces still quote documents that were removed"""
    keep_prompts: bool = True
    """each call's messages and reply are kept with its run"""
    keep_checkpoints_days: int = Field(30, ge=0, le=3650)
    """days for which a run can be forked; 0: never"""
    retention_days: int = Field(0, ge=0, le=3650)
    """days for which a conversation is kept after its last question; 0: until someone deletes it"""

    web_search: Literal["tavily", "duckduckgo", "off"] = "tavily"
    """Tavily is used only if it has a key"""
    tavily_api_key: SecretStr | None = None
    tavily_base_url: str = TAVILY_URL
    corrective_rule: Literal["scores", "any"] = "scores"
    """what leads to a web search: the grades' scores, or any passage that is not relevant"""
    crag_lower: float = Field(0.4, ge=0, le=1, allow_inf_nan=False)
    """scores below it mean that a passage is not usable; see rag/nodes/grade_documents.py"""
    crag_upper: float = Field(0.7, ge=0, le=1, allow_inf_nan=False)
    """one score of at least this is enough"""

    @field_validator("chat_model")
    @classmethod
    def _chat_model_may_be_embedded(cls, name: str) -> str:
        return index_store.model_name(name)

    @field_validator("embedded_model")
    @classmethod
    def _model_may_be_in_the_home_folder(cls, file: Path | None) -> Path | None:
        return file and index_store.home_expanded(file)

    @field_validator("compare_models")
    @classmethod
    def _are_of_the_service(cls, names: str) -> str:
        if EMBEDDED in map(index_store.model_name, _parts(names)) or index_store.NO_COMMAS & set(names):
            raise ValueError
        return names

    @field_validator("tavily_api_key")
    @classmethod
    def _tavily_key_fits_into_a_header(cls, key: SecretStr | None) -> SecretStr | None:
        return index_store.header_value(key)

    @field_validator("tavily_base_url")
    @classmethod
    def _is_a_web_address(cls, url: str) -> str:
        return index_store.web_address(url).rstrip("/")

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
        """Other models that a run may use, by name; none with the embedded model."""
        names = dict.fromkeys(_parts(self.compare_models)) if self.chat_model_kind == SERVICE else {}
        return tuple(name for name in names if name != self.chat_model)

    @property
    def chat_model_kind(self) -> str:
        return EMBEDDED if self.chat_model == EMBEDDED or not self.service_is_set else SERVICE


def _parts(names: str) -> list[str]:
    return [part.strip() for part in names.split(",") if part.strip()]

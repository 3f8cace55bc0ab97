"""The options of one run: how documents are searched, which model answers, and how the answer is written."""

from typing import get_args

from pydantic import BaseModel, ValidationError

from index_store.base.errors import UnknownMode, UnknownUnit
from index_store.search.searcher import MODES, UNITS
from rag.errors import BadHitCount, BadTemperature, UnknownStyle
from rag.trace.events import Style
from rag.trace.passages import Retrieval


class RunOptions(BaseModel, frozen=True):
    """How a run answers its question. Not checked."""

    pipeline: str
    retrieval: Retrieval | None = None
    """None: the pipeline's"""
    style: Style | None = None
    """None: the settings'"""
    model: str | None = None
    """the name of another chat model than the settings'"""


LEAST_HITS, MOST_HITS = 1, 20
"""with more than twenty passages, the one that answers is hard to find"""


def check_retrieval(retrieval: Retrieval) -> None:
    """Raises UnknownMode, UnknownUnit, BadHitCount."""
    if retrieval.mode not in MODES:
        raise UnknownMode(mode=retrieval.mode, known=", ".join(MODES))
    if retrieval.unit not in UNITS:
        raise UnknownUnit(unit=retrieval.unit, known=", ".join(UNITS))
    if not LEAST_HITS <= retrieval.k <= MOST_HITS:
        raise bad_hit_count(retrieval.k)


def hit_count(text: str) -> int:
    """Raises BadHitCount."""
    try:
        return int(text)
    except ValueError as error:
        raise bad_hit_count(text) from error


def bad_hit_count(k: int | str) -> BadHitCount:
    return BadHitCount(k=k, least=LEAST_HITS, most=MOST_HITS)


LENGTHS: tuple[str, ...] = get_args(Style.model_fields["length"].annotation)
TONES: tuple[str, ...] = get_args(Style.model_fields["tone"].annotation)

USUAL = Style()


def style(length: str, tone: str, temperature: float | str) -> Style:
    """Raises UnknownStyle, BadTemperature."""
    for name, known in ((length, LENGTHS), (tone, TONES)):
        if name not in known:
            raise UnknownStyle(name=name, known=", ".join(known))
    try:
        return Style.model_validate({"length": length, "tone": tone, "temperature": temperature})
    except ValidationError as error:
        raise BadTemperature(given=temperature) from error

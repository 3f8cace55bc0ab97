"""How an answer is to read: what there is for a person to pick from."""

from typing import get_args

from rag.errors import UnknownStyle
from rag.trace import Style

LENGTHS: tuple[str, ...] = get_args(Style.model_fields["length"].annotation)
TONES: tuple[str, ...] = get_args(Style.model_fields["tone"].annotation)

USUAL = Style()


def style(length: str, tone: str) -> Style:
    """Raises UnknownStyle."""
    for name, known in ((length, LENGTHS), (tone, TONES)):
        if name not in known:
            raise UnknownStyle(name=name, known=", ".join(known))
    return Style(length=length, tone=tone)

"""What graders said, as HTML."""

from html import escape

from pages.words import say
from rag.trace import Grade, Support, Usefulness


def support_html(grade: Support) -> str:
    word = say(f"support.{grade.level}") if grade.level else None
    claims = "".join(f"<li>{escape(claim)}</li>" for claim in grade.unsupported)
    without = f"<p>{escape(say('detail.unsupported'))}</p><ul>{claims}</ul>" if claims else ""
    return grade_html(grade, word=word) + without


def usefulness_html(grade: Usefulness) -> str:
    return grade_html(grade, word=say("detail.rating", rating=grade.rating) if grade.rating else None)


def grade_html(grade: Grade, prefix: str = "", word: str | None = None) -> str:
    if word is None:
        word = say(f"detail.{prefix}{grade.verdict}" if grade.verdict != "unknown" else "detail.unknown")
    shown = f'<span class="verdict {grade.verdict}">{escape(word)}</span>'
    if grade.score is not None:
        shown += meter_html(grade.score)
    if grade.margin is not None and grade.cut is not None:
        shown += f'<span class="margin">{escape(_margin(grade))}</span>'
    if grade.reason:
        shown += f'<span class="reason">{escape(grade.reason)}</span>'
    return f'<span class="grade">{shown}</span>'


def _margin(grade: Grade) -> str:
    """With what adds up to it, where that is more than one thing."""
    told = {"margin": f"{grade.margin:+z.1f}", "cut": f"{grade.cut:+z.1f}"}
    if len(grade.parts) < 2:
        return say("detail.margin", **told)
    parts = ", ".join(say(f"margin.{name}", part=f"{part:+z.1f}") for name, part in grade.parts.items())
    return say("margin.parts", parts=parts, **told)


def meter_html(score: float) -> str:
    return f'<meter min="0" max="1" low="0.5" value="{score:.3f}"></meter><span class="score">{score:.2f}</span>'

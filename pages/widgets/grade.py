"""What graders said, as HTML."""

from html import escape

from pages.words import language, say
from rag.trace.grades import Explanation, Grade, Grounding, Usefulness


def grounding_html(grade: Grounding) -> str:
    word = say(f"grounding.{grade.level}") if grade.level else None
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
    if grade.explanation:
        shown += f'<span class="explanation">{escape(_explanation(grade.explanation))}</span>'
    if grade.reason:
        shown += f'<span class="reason">{escape(grade.reason)}</span>'
    return f'<span class="grade">{shown}</span>'


def _explanation(told: Explanation) -> str:
    """What it adds up to, with its factors where there is more than one."""
    ja = language() == "ja"
    sums = {
        "name": told.ja if ja else told.en,
        "total": f"{told.total:+z.1f}",
        "threshold": f"{told.threshold:+z.1f}",
    }
    if len(told.factors) < 2:
        return say("detail.explanation", **sums)
    factors = ", ".join(f"{each.ja if ja else each.en} {each.value:+z.1f}" for each in told.factors)
    return say("detail.explanation_of_factors", factors=factors, **sums)


def meter_html(score: float) -> str:
    return f'<meter min="0" max="1" low="0.5" value="{score:.3f}"></meter><span class="score">{score:.2f}</span>'

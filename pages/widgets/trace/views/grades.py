"""Views of grades: of passages, of answers, and of whether documents are needed at all."""

from html import escape

from pages.widgets.passage.passage_row import passage_row
from pages.widgets.trace.views.html import facts, headed, measured, meter, numbers
from pages.widgets.trace.views.view import View
from pages.words.reader import language
from pages.words.say import say
from rag.trace.details import (
    AnswerCheckDetail,
    AssessmentDetail,
    GradesDetail,
    GroundingDetail,
    RefinementDetail,
    RetrievalNeedDetail,
    UsefulnessDetail,
)
from rag.trace.grades import Explanation, Grade, Grounding, PassageGrade, Usefulness


class GradesView(View[GradesDetail], of=GradesDetail):
    def summary(self) -> str:
        detail = self.detail
        told = say("summary.grades", relevant=detail.relevant, count=len(detail.grades))
        return say("summary.grades_in_part", grades=told, ungraded=detail.ungraded) if detail.ungraded else told

    def html(self) -> str:
        return "".join(map(_graded_passage, self.detail.grades))


class AssessmentView(View[AssessmentDetail], of=AssessmentDetail):
    def summary(self) -> str:
        return say(f"assessment.{self.detail.action}")

    def html(self) -> str:
        detail = self.detail
        if detail.rule == "any":
            rule = say("assessment.rule_any")
        else:
            rule = say("assessment.rule_scores", lower=f"{detail.lower:g}", upper=f"{detail.upper:g}")
        told = facts({"detail.rule": rule, "detail.verdict": self.summary()})
        return told + "".join(map(_graded_passage, detail.grades))


class RefinementView(View[RefinementDetail], of=RefinementDetail):
    def summary(self) -> str:
        strips = self.detail.strips
        return say("summary.refinement", kept=sum(strip.kept for strip in strips), count=len(strips))

    def html(self) -> str:
        rows = "".join(
            f'<tr class="{"kept" if strip.kept else "dropped"}"><td>[{strip.passage}]</td>'
            f"<td>{escape(strip.text)}</td><td>{measured(strip.score)}</td></tr>"
            for strip in self.detail.strips
        )
        return f'<table class="strips">{rows}</table>'


class GroundingView(View[GroundingDetail], of=GroundingDetail):
    def summary(self) -> str:
        grade = self.detail.grade
        if grade.level == "partly":
            return say("summary.partly_grounded")
        if grade.verdict != "yes":
            return say("summary.unknown" if grade.verdict == "unknown" else "summary.not_grounded")
        sources = sorted({number for claim in self.detail.claims for number in claim.sources})
        return say("summary.grounded", sources=numbers(sources)) if sources else say("summary.grounded_plain")

    def html(self) -> str:
        claims = "".join(
            f"<tr><td>{escape(claim.text)}</td>"
            f"<td>{escape(numbers(claim.sources) or say('detail.no_source'))}</td></tr>"
            for claim in self.detail.claims
        )
        heads = f"<th>{escape(say('detail.claim'))}</th><th>{escape(say('detail.claim_sources'))}</th>"
        return f"{grounding_html(self.detail.grade)}<table><tr>{heads}</tr>{claims}</table>"


class UsefulnessView(View[UsefulnessDetail], of=UsefulnessDetail):
    def summary(self) -> str:
        grade = self.detail.grade
        told = say({"yes": "summary.useful", "no": "summary.not_useful", "unknown": "summary.unknown"}[grade.verdict])
        return say("summary.rated", told=told, rating=grade.rating) if grade.rating else told

    def html(self) -> str:
        return usefulness_html(self.detail.grade)


class AnswerCheckView(View[AnswerCheckDetail], of=AnswerCheckDetail):
    def summary(self) -> str:
        return say({"yes": "summary.good", "no": "summary.bad", "unknown": "summary.undecided"}[self.detail.verdict])

    def html(self) -> str:
        return headed("detail.grounding", grounding_html(self.detail.grounding)) + headed(
            "detail.usefulness", usefulness_html(self.detail.usefulness)
        )


class RetrievalNeedView(View[RetrievalNeedDetail], of=RetrievalNeedDetail):
    def summary(self) -> str:
        if not self.detail.needed:
            return say("summary.no_documents_needed")
        is_sure = self.detail.grade.verdict == "yes"
        return say("summary.documents_needed" if is_sure else "summary.documents_in_doubt")

    def html(self) -> str:
        return grade_html(self.detail.grade, prefix="need_")


def grounding_html(grade: Grounding) -> str:
    word = say(f"grounding.{grade.level}") if grade.level else None
    claims = "".join(f"<li>{escape(claim)}</li>" for claim in grade.unsupported)
    ungrounded = f"<p>{escape(say('detail.ungrounded'))}</p><ul>{claims}</ul>" if claims else ""
    return grade_html(grade, word=word) + ungrounded


def usefulness_html(grade: Usefulness) -> str:
    return grade_html(grade, word=say("detail.rating", rating=grade.rating) if grade.rating else None)


def _graded_passage(each: PassageGrade) -> str:
    known = f'<span class="known">{escape(say("detail.known"))}</span>' if each.known else ""
    failed = f'<span class="reason">{escape(each.error.sentence(language()))}</span>' if each.error else ""
    is_left_out = each.error and each.grade.verdict == "no"
    verdict = _verdict(each.grade, prefix="relevant_", word=say("detail.relevant_left_out") if is_left_out else None)
    return passage_row(each.passage, verdict + known + failed, how_html(each.grade))


def grade_html(grade: Grade, prefix: str = "", word: str | None = None) -> str:
    """`prefix`: of the keys of the verdict's texts. `word`: a text to use instead."""
    return _verdict(grade, prefix, word) + how_html(grade)


def _verdict(grade: Grade, prefix: str = "", word: str | None = None) -> str:
    """The verdict in a word, with how certain the grader is."""
    if word is None:
        word = say(f"detail.{prefix}{grade.verdict}" if grade.verdict != "unknown" else "detail.unknown")
    bar = ""
    if grade.by_hand:
        word = say("detail.by_hand", verdict=word)
    if grade.score is not None:
        word, bar = say("detail.graded", verdict=word, score=f"{grade.score:.2f}"), meter(grade.score)
    return f'<span class="grade"><span class="verdict {grade.verdict}">{escape(word)}</span>{bar}</span>'


def how_html(grade: Grade) -> str:
    """How the grade was made, for readers who want to know."""
    told = f'<p class="reason">{escape(grade.reason)}</p>' if grade.reason else ""
    if grade.explanation:
        told += f'<p class="explanation">{escape(_explanation(grade.explanation))}</p>'
    if not told:
        return ""
    return f'<details class="how"><summary>{escape(say("detail.how"))}</summary>{told}</details>'


def _explanation(told: Explanation) -> str:
    """The sum, and its factors if there is more than one."""
    ja = language() == "ja"
    sums = {
        "name": told.ja if ja else told.en,
        "total": f"{told.total:+z.1f}",
        "threshold": f"{told.threshold:+z.1f}",
    }
    if len(told.factors) < 2:
        return say("detail.explanation", **sums)
    factors = ("、" if ja else ", ").join(f"{each.ja if ja else each.en} {each.value:+z.1f}" for each in told.factors)
    return say("detail.explanation_of_factors", factors=factors, **sums)

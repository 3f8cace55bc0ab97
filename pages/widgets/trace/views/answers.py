"""Views of answers: written, speculative, attempts, candidates, no answer."""

from collections.abc import Sequence

from pages.widgets.passage.passage_row import passage_row
from pages.widgets.trace.views.grades import how_html
from pages.widgets.trace.views.html import facts, headed, numbers, table
from pages.widgets.trace.views.view import View
from pages.words.reader import language
from pages.words.say import counted, say
from rag.trace.details import (
    AttemptsDetail,
    Candidate,
    CandidatesDetail,
    DeclineDetail,
    DraftDetail,
    FailedCandidate,
    GenerationDetail,
    ModelDetail,
    Probe,
)
from rag.trace.grades import Grade, Grounding, Usefulness


class GenerationView(View[GenerationDetail], of=GenerationDetail):
    def summary(self) -> str:
        if not self.detail.passages:
            return ""
        return _length("summary.drafted" if self.detail.drafted else "summary.generation", self.detail)

    def html(self) -> str:
        given = numbers(self.detail.passages)
        return facts({"detail.given": given or say("detail.no_source"), "detail.written": self.detail.text})


class DraftView(View[DraftDetail], of=DraftDetail):
    def summary(self) -> str:
        return _length("summary.draft_kept", self.detail) if self.detail.kept else say("summary.draft_dropped")

    def html(self) -> str:
        written = self.detail.text if self.detail.kept else say("detail.draft_dropped")
        return facts({"detail.given": numbers(self.detail.passages), "detail.written": written})


def _length(key: str, detail: GenerationDetail | DraftDetail) -> str:
    characters = counted("chunk.characters", len(detail.text))
    return say(key, characters=characters, passages=counted("summary.passages", len(detail.passages)))


class DeclineView(View[DeclineDetail], of=DeclineDetail):
    def summary(self) -> str:
        if self.detail.passages:
            return say("summary.says_no", passages=counted("summary.passages", len(self.detail.passages)))
        nearest = numbers(passage.number for passage in self.detail.nearest)
        return say("summary.decline", numbers=nearest) if nearest else say("summary.decline_none")

    def html(self) -> str:
        told = {"detail.query": "\n".join(self.detail.queries), "detail.written": self.detail.text}
        nearest = "".join(passage_row(passage) for passage in self.detail.nearest)
        probe = _probe(self.detail.probe) if self.detail.probe else ""
        return facts(told) + headed("detail.nearest", nearest) + probe


def _probe(probe: Probe) -> str:
    """What the index has about the question, and what of it no search of the run has found."""
    found = zip(probe.nearest, probe.shares, strict=True)
    nearest = (say("probe.passage", number=f"[{each.number}]", share=f"{share:.0%}") for each, share in found)
    told = {"probe.title": "\n".join(nearest) or say("detail.no_source")}
    if probe.absent:
        told["probe.absent"] = " · ".join(probe.absent)
    missed = "".join(passage_row(each) for each in probe.nearest if each.number not in probe.seen)
    return facts(told) + headed("probe.missed", missed)


class AttemptsView(View[AttemptsDetail], of=AttemptsDetail):
    def summary(self) -> str:
        return say("summary.attempts", number=self.detail.chosen, count=self.detail.attempts[-1].number)

    def html(self) -> str:
        heads = ("detail.attempt", "detail.grounding", "detail.usefulness", "detail.answer")
        kept = say("detail.kept")
        rows = (
            (
                f"{each.number} · {kept}" if each.number == self.detail.chosen else str(each.number),
                _grounding(each.grounding),
                _rating(each.usefulness),
                each.text,
            )
            for each in self.detail.attempts
        )
        return table(heads, rows)


class CandidatesView(View[CandidatesDetail], of=CandidatesDetail):
    """One row per candidate, best first; then those that could not be written."""

    def summary(self) -> str:
        candidates = self.detail.candidates
        grounded = sum(each.is_grounded for each in candidates)
        return say("summary.candidates", grounded=grounded, count=len(candidates))

    def html(self) -> str:
        heads = (
            "detail.passage", "detail.relevance", "detail.grounding", "detail.usefulness", "detail.total_score",
            "detail.answer",
        )  # fmt: skip
        rows = (*map(self._row, self.detail.candidates), *map(self._failed_row, self.detail.failed))
        passages = (
            *(passage_row(each.passage, more=_how(each)) for each in self.detail.candidates if each.passage),
            *(passage_row(each.passage, more=_relevant_how(each)) for each in self.detail.failed),
        )
        return table(heads, rows) + "".join(passages)

    @staticmethod
    def _row(candidate: Candidate) -> Sequence[str]:
        return (
            f"[{candidate.passage.number}]" if candidate.passage else say("detail.no_source"),
            _relevance(candidate.relevance),
            _grounding(candidate.grounding),
            _rating(candidate.usefulness),
            f"{candidate.score:.2f}",
            candidate.text,
        )

    @staticmethod
    def _failed_row(failed: FailedCandidate) -> Sequence[str]:
        error = f"⚠ {failed.error.sentence(language())}"
        return (f"[{failed.passage.number}]", _relevance(failed.relevance), "", "", "", error)


class ModelView(View[ModelDetail], of=ModelDetail):
    def summary(self) -> str:
        return say("summary.model", name=self.detail.name)


def _relevance(grade: Grade) -> str:
    if grade.verdict == "unknown":
        return say("detail.unknown")
    word = say({"yes": "detail.relevant_yes", "no": "detail.relevant_no"}[grade.verdict])
    return word if grade.score is None else say("detail.graded", verdict=word, score=f"{grade.score:.2f}")


def _how(candidate: Candidate) -> str:
    """How its grades were made."""
    return (
        _relevant_how(candidate)
        + headed("detail.grounding", how_html(candidate.grounding))
        + headed("detail.usefulness", how_html(candidate.usefulness))
    )


def _relevant_how(candidate: Candidate | FailedCandidate) -> str:
    return headed("detail.relevance", how_html(candidate.relevance))


def _grounding(grade: Grounding) -> str:
    return say(f"grounding.{grade.level}") if grade.level else say("detail.unknown")


def _rating(grade: Usefulness) -> str:
    return say("detail.rating", rating=grade.rating) if grade.rating else say("detail.unknown")

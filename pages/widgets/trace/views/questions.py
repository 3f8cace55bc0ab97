"""Views of changes to the question: standalone, rewritten, routed."""

from html import escape

from index_store.base.text.shortened import shortened
from pages.widgets.trace.views.html import facts, headed, measured
from pages.widgets.trace.views.view import View
from pages.widgets.trace.views.word_diff import rewrite_html
from pages.words.say import say
from rag.trace.details import RewriteDetail, RouteDetail, StandaloneDetail

LONGEST = 60
"""characters of a rewrite that fit in a row"""


class StandaloneView(View[StandaloneDetail], of=StandaloneDetail):
    def summary(self) -> str:
        return say(f"standalone.{self.detail.why}", after=shortened(self.detail.after, LONGEST))

    def html(self) -> str:
        detail = self.detail
        if detail.after != detail.before:
            told = rewrite_html(detail.before, detail.after)
        else:
            told = facts({"detail.question": detail.before})
        if detail.refused is not None:
            told += facts({"detail.refused": detail.refused})
        turns = "".join(f"<li>{escape(turn.question)}<br>{escape(turn.answer)}</li>" for turn in detail.turns)
        return told + headed("detail.said", f"<ol>{turns}</ol>" if turns else "")


class RewriteView(View[RewriteDetail], of=RewriteDetail):
    def summary(self) -> str:
        if self.detail.refused is not None:
            return say("summary.rewrite_refused")
        return say("summary.rewrite", after=shortened(self.detail.after, LONGEST))

    def html(self) -> str:
        detail = self.detail
        told = {}
        if detail.refused is not None:
            told["detail.refused"] = detail.refused
        if detail.reason:
            told["detail.reason"] = detail.reason
        return rewrite_html(detail.before, detail.after) + facts(told)


class RouteView(View[RouteDetail], of=RouteDetail):
    def summary(self) -> str:
        return f"{say(f'route.{self.detail.route}')}: {say(f'why.{self.detail.why}')}"

    def html(self) -> str:
        detail = self.detail
        told = {"detail.question": detail.question, "detail.route": say(f"route.{detail.route}")}
        told["detail.reason"] = detail.reason or say(f"why.{detail.why}")
        scores = "".join(
            f"<tr><td>{escape(say(f'route.{route}'))}</td><td>{measured(score)}</td></tr>"
            for route, score in detail.scores.items()
        )
        return facts(told) + (f"<table>{scores}</table>" if scores else "")

"""Views of searches: keywords, passages, the web, and documents added for a question."""

from collections import Counter
from html import escape
from urllib.parse import urlencode

from index_store.ingestion.results import IngestResult, IngestStatus
from pages.widgets.index.without_text import told_without_text
from pages.widgets.passage.location import link
from pages.widgets.passage.passage_row import passage_row, ranks, web_note
from pages.widgets.trace.views.html import facts
from pages.widgets.trace.views.view import View
from pages.widgets.trace.views.word_diff import choice_html
from pages.words.names import readable
from pages.words.reader import language
from pages.words.say import counted, say
from rag.trace.details import DocumentsDetail, KeywordsDetail, RetrievalDetail, WebSearchDetail

PROVIDERS = {"tavily": "Tavily", "duckduckgo": "DuckDuckGo"}


class RetrievalView(View[RetrievalDetail], of=RetrievalDetail):
    def summary(self) -> str:
        detail = self.detail
        if not detail.passages:
            return say("summary.retrieval_none")
        found = counted("summary.passages", len(detail.passages))
        return say("summary.trimmed", passages=found, count=detail.trimmed) if detail.trimmed else found

    def html(self) -> str:
        detail = self.detail
        told = {
            "detail.query": detail.query,
            "detail.search": f"{say(f'search.{detail.mode}')} · {say(f'search.{detail.unit}')}",
        }
        if detail.words:
            told["detail.words"] = ", ".join(detail.words)
        if detail.left_out:
            told["detail.left_out"] = str(detail.left_out)
        if detail.pending:
            told["detail.pending"] = str(detail.pending)
        listed = "".join(passage_row(passage, ranks(passage, detail.mode)) for passage in detail.passages)
        return facts(told) + listed + self._link_to_search()

    def _link_to_search(self) -> str:
        """A link to the same search on the Search page."""
        if not self.index:
            return ""
        detail = self.detail
        asked = {"q": detail.query, "index": self.index, "unit": detail.unit, "lang": language()}
        if detail.words:
            asked["words"] = " ".join(detail.words)
        if found := len(detail.passages) + detail.left_out:
            asked["k"] = str(found)
        return f"<p>{link(f'search?{urlencode(asked)}', say('detail.look_at_search'))}</p>"


class KeywordsView(View[KeywordsDetail], of=KeywordsDetail):
    def summary(self) -> str:
        return say(f"keywords.{self.detail.why}") if self.detail.why else ", ".join(self.detail.words)

    def html(self) -> str:
        detail = self.detail
        told = {}
        if invented := [word for word in detail.named if word not in detail.words]:
            told["detail.not_used"] = ", ".join(invented)
        if detail.error:
            told["detail.reason"] = detail.error.sentence(language())
        return self._choice() + facts(told)

    def _choice(self) -> str:
        detail = self.detail
        if detail.words:
            return choice_html(detail.question, detail.words, "detail.words")
        if detail.own_words:
            return choice_html(detail.question, detail.own_words, "detail.own_words")
        return facts({"detail.question": detail.question})


class WebSearchView(View[WebSearchDetail], of=WebSearchDetail):
    def summary(self) -> str:
        if self.detail.why:
            return say(f"web.{self.detail.why}")
        return f"{self._provider}: {counted('web.results', len(self.detail.passages))}"

    def html(self) -> str:
        detail = self.detail
        told = {"detail.query": detail.query}
        if detail.provider:
            told["detail.search"] = self._provider
        if detail.why:
            told["detail.reason"] = detail.error.sentence(language()) if detail.error else say(f"web.{detail.why}_note")
        return facts(told) + "".join(passage_row(passage, web_note(passage)) for passage in detail.passages)

    @property
    def _provider(self) -> str:
        provider = self.detail.provider or ""
        return PROVIDERS.get(provider, provider)


class DocumentsView(View[DocumentsDetail], of=DocumentsDetail):
    def summary(self) -> str:
        counts = Counter(each.status for each in self.detail.added)
        return " · ".join(counted(f"job.{status}", counts[status]) for status in IngestStatus if counts[status])

    def html(self) -> str:
        lines = (f"{readable(each.source)}: {_result(each)}" for each in self.detail.added)
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _result(added: IngestResult) -> str:
    if added.error:
        return added.error.sentence(language())
    without_text = told_without_text(added.pages_without_text) if added.pages_without_text else ""
    return f"✓ {counted('chunk.sections', added.sections)} {without_text}".rstrip()

"""The detail of a step: its summary in the row of the trace, and the full view that the row opens."""

import json
import re
from html import unescape
from typing import Literal, get_args
from urllib.parse import parse_qsl

import pytest

from index_store.base.errors import EmptyDocument, ServiceBusy
from index_store.ingestion.results import IngestStatus
from pages.texts import texts
from pages.widgets.trace import detail
from pages.widgets.trace.views.view import JsonView, view_of
from rag.trace.details import (
    AnswerCheckDetail,
    AssessmentDetail,
    AttemptsDetail,
    Candidate,
    CandidatesDetail,
    DeclineDetail,
    DocumentsDetail,
    FailedCandidate,
    GenerationDetail,
    GradesDetail,
    GroundingDetail,
    KeywordsDetail,
    NotUsed,
    Probe,
    RefinementDetail,
    RetrievalDetail,
    StandaloneDetail,
    UsefulnessDetail,
)
from rag.trace.grades import Explanation, Factor, Grounding, PassageGrade
from rag.trace.passages import Frozen
from tests.pages.reader import Tags, for_reader
from tests.pages.tabs.app_page import shown
from tests.pages.trace_examples import (
    BOTH_SIDES,
    DETAILS,
    FULLY,
    HOSTILE,
    NO,
    NOT_RATED,
    OF_BEFORE,
    PARTLY,
    PASSAGE,
    UNKNOWN,
    USEFUL,
    YES,
    added,
    finished,
)

each_language = pytest.mark.parametrize("language", ["ja", "en"])


def test_a_step_that_went_on_without_its_model_says_so_in_its_row_and_in_full():
    failure = ServiceBusy(host="model.example").as_failure()
    example = finished(DETAILS[0]).model_copy(update={"fallback": failure})
    summary, _ = for_reader("en", lambda: detail.summary(example))
    assert summary.startswith("⚠ ")
    for language in ("ja", "en"):
        _, page = for_reader(language, lambda: detail.show_detail(example, "handbook"))
        assert [shown(each.value) for each in page.warning] == [failure.sentence(language)]


@pytest.mark.parametrize(("made", "told"), [(1, "1 model call,"), (2, "2 model calls,")])
def test_a_step_tells_how_often_it_called_the_model(made, told):
    step = finished(DETAILS[0]).model_copy(update={"model_calls": made})
    _, page = for_reader("en", lambda: detail.show_detail(step, ""))
    assert f"· {told}" in page.html[0].value


def test_tokens_that_no_service_told_are_not_called_none():
    step = finished(DETAILS[0]).model_copy(update={"model_calls": 1, "tokens_in": 0, "tokens_out": 0})
    _, page = for_reader("en", lambda: detail.show_detail(step, ""))
    assert "· 1 model call</footer>" in page.html[0].value


def summaries(language: str, examples=DETAILS) -> list[str]:
    return for_reader(language, lambda: [detail.summary(finished(each)) for each in examples])[0]


@each_language
def test_passages_that_were_not_graded_are_not_told_as_relevant(language):
    graded = tuple(PassageGrade(passage=PASSAGE, grade=each) for each in (UNKNOWN, UNKNOWN, YES))
    told = {"en": "1 of 3 relevant, 2 not graded", "ja": "3 件中 1 件が関連、2 件は採点なし"}
    [summary] = summaries(language, [GradesDetail(question="q", grades=graded)])
    assert shown(summary) == told[language]


def test_a_check_that_the_service_did_not_answer_is_told_neither_as_unreadable_nor_as_not_passed():
    step = finished(UsefulnessDetail(grade=NOT_RATED))
    step = step.model_copy(update={"fallback": ServiceBusy(host="h").as_failure()})
    summary, _ = for_reader("en", lambda: detail.summary_text(step))
    assert summary == "⚠ not graded"
    [both] = summaries("en", [AnswerCheckDetail(grounding=FULLY, usefulness=NOT_RATED)])
    assert shown(both) == "not decided: a check is missing"


def pages_html(language: str, examples=DETAILS, index: str = "handbook") -> list[str]:
    """The full view of each example."""
    _, page = for_reader(language, lambda: [detail.show_detail(finished(each), index) for each in examples])
    return [each.value for each in page.html]


@each_language
def test_every_kind_of_detail_has_a_view_with_a_summary_that_opens_to_a_full_account(language):
    assert [each.type for each in DETAILS if isinstance(view_of(each, ""), JsonView)] == []
    told, shown = summaries(language), pages_html(language)
    assert [each.type for each, summary in zip(DETAILS, told, strict=True) if not summary.strip()] == []
    assert [each.type for each, html in zip(DETAILS, shown, strict=True) if 'class="detail"' not in html] == []


class NewDetail(Frozen):
    type: Literal["of_tomorrow"] = "of_tomorrow"
    words: tuple[str, ...] = (HOSTILE,)


def test_a_kind_of_detail_without_a_view_is_shown_as_its_json():
    step = finished(None).model_copy(update={"detail": NewDetail()})
    summary, page = for_reader("en", lambda: (detail.summary(step), detail.show_detail(step, "handbook"))[0])
    assert summary == "of tomorrow"
    tags = Tags(page.html[0].value)
    assert json.loads(re.search(r"{.*}", tags.text, re.DOTALL)[0]) == {"type": "of_tomorrow", "words": [HOSTILE]}
    assert "script" not in tags.names


def test_no_words_of_a_document_or_a_model_become_html():
    for example, html in zip(DETAILS, pages_html("en", index=HOSTILE), strict=True):
        tags = Tags(html)
        assert not tags.names & {"script", "img", "iframe", "style", "link"}, example
        assert all(address.startswith("search?") for address in re.findall(r"<a href=.([^'\"]*)", html)), example
        assert not {name for name in tags.attributes if name.startswith("on")}, example


@each_language
def test_a_retrieval_leads_to_the_same_search_on_the_search_page(language):
    _, page = for_reader(language, lambda: detail.show_detail(finished(DETAILS[2]), "出張 & 旅費"))
    [address] = re.findall(r'<a href="([^"]*)"', page.html[0].value)
    path, _, asked = unescape(address).partition("?")
    assert path == "search"
    assert dict(parse_qsl(asked)) == {
        "q": HOSTILE,
        "words": HOSTILE,
        "index": "出張 & 旅費",
        "unit": "section",
        "k": "5",  # two passages that the model got, and three beyond its context window
        "lang": language,
    }


def test_what_is_escaped_reads_as_it_was_written():
    _, page = for_reader("en", lambda: detail.show_detail(finished(DETAILS[0]), "handbook"))
    assert HOSTILE in Tags(page.html[0].value).text


def test_no_words_of_a_document_or_a_model_become_markdown_in_a_row():
    assert [summary for summary in summaries("en") if re.search(r"(?<!\\)[\[<*`$]", summary)] == []


def html_of(example, language: str = "en") -> str:
    _, page = for_reader(language, lambda: detail.show_detail(finished(example), "handbook"))
    return page.html[0].value


def hybrid(*passages, **changes) -> RetrievalDetail:
    return RetrievalDetail(query="?", mode="hybrid", unit="section", passages=passages, **changes)


def test_a_hit_shows_its_rank_and_score_on_both_sides_and_fused():
    text = Tags(html_of(hybrid(BOTH_SIDES))).text
    assert "#2 by vector (0.871) · #1 by keyword (0.900) · fused 0.0325" in text


@each_language
def test_a_side_that_did_not_find_a_hit_says_so(language):
    one_sided = BOTH_SIDES.model_copy(update={"vector_rank": None, "vector_score": None})
    assert texts(language)["detail.vector_missing"] in html_of(hybrid(one_sided), language)


def test_a_search_of_one_side_shows_that_side_alone():
    shown = Tags(html_of(RetrievalDetail(query="?", mode="vector", unit="chunk", passages=(BOTH_SIDES,)))).text
    assert "#2 by vector (0.871)" in shown
    assert "keyword (" not in shown
    assert "fused" not in shown


def test_a_hit_of_before_ranks_were_noted_shows_its_score():
    assert "Similarity 0.870" in Tags(html_of(DETAILS[0])).text


def test_the_chunk_that_was_found_is_marked_in_its_section():
    passage = BOTH_SIDES.model_copy(
        update={"text": "before <b> found after", "start": 100, "end": 122, "best_start": 111, "best_end": 116}
    )
    assert "before &lt;b&gt; <mark>found</mark> after" in html_of(hybrid(passage))


def test_what_was_trimmed_and_what_was_left_out_is_told():
    example = hybrid(BOTH_SIDES, left_out=3)
    summary, _ = for_reader("en", lambda: detail.summary(finished(example)))
    assert "1 shortened" in summary
    text = Tags(html_of(example)).text
    assert f"{len(HOSTILE)} of 4,000 characters" in text
    assert re.search(r"Left out.*?3", text)


def test_in_japanese_the_parts_of_a_summary_are_joined_as_japanese_is_written():
    trimmed, rated = summaries("ja", [hybrid(BOTH_SIDES), UsefulnessDetail(grade=USEFUL)])
    assert (trimmed, rated) == ("1 件、うち 1 件はモデルに合わせて短縮", "質問に答えている、5 段階中 5")


def test_a_search_tells_how_many_documents_were_still_being_added():
    assert re.search(r"still being added.*?3", Tags(html_of(hybrid(BOTH_SIDES, pending=3))).text)
    assert "still being added" not in Tags(html_of(hybrid(BOTH_SIDES))).text


@each_language
def test_words_that_are_not_used_are_told_with_the_reason_and_what_is_used_instead(language):
    reasons = get_args(NotUsed)
    examples = [
        KeywordsDetail(question="?", words=(), named=("Spesen",), own_words=("allowance",), why=why) for why in reasons
    ]
    told = [shown(summary) for summary in summaries(language, examples)]
    assert told == [texts(language)[f"keywords.{why}"] for why in reasons]
    assert all("Spesen" in html and "allowance" in html for html in pages_html(language, examples))


def table_of(example) -> list[list[str]]:
    """The cells of its table, row by row."""
    rows = re.findall(r"<tr>(.*?)</tr>", html_of(example), re.DOTALL)
    return [[Tags(cell).text for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]


def the(kind):
    return next(each for each in DETAILS if isinstance(each, kind))


def test_candidates_are_a_table_with_a_row_each_the_best_first():
    heads, best, without, last = table_of(the(CandidatesDetail))
    assert heads == ["Passage", "Relevance", "Grounding", "Usefulness", "Score", "Answer"]
    assert best == ["[1]", "relevant, 0.90", "partly grounded", "5 of 5", "2.00", HOSTILE]
    assert without == ["none", "not graded", "fully grounded", "not graded", "1.00", HOSTILE]
    assert last[1] == "not relevant, 0.10"


@each_language
def test_a_passage_whose_answer_could_not_be_written_has_a_row_with_the_error(language):
    busy = ServiceBusy(host="h").as_failure()
    detail = CandidatesDetail(candidates=(), failed=(FailedCandidate(passage=BOTH_SIDES, relevance=NO, error=busy),))
    html = html_of(detail, language)
    assert texts(language)["detail.relevant_no"] in html
    assert busy.sentence(language) in unescape(html)
    assert "<td>[1]</td>" in html


def test_a_candidates_passage_opens_to_how_its_grades_came_about():
    candidate = Candidate(
        passage=BOTH_SIDES, text="It is.", relevance=NO, grounding=PARTLY, usefulness=NOT_RATED, score=0.5
    )
    html = html_of(CandidatesDetail(candidates=(candidate,)))
    assert html.count('<details class="how">') == 2
    assert re.search('<h6>Relevance</h6><details class="how">', html)
    assert re.search('<h6>Grounding</h6><details class="how">', html)


def test_the_attempt_that_is_kept_is_marked_among_the_others():
    _, first, second = table_of(the(AttemptsDetail))
    assert first == ["1 · kept", "partly grounded", "5 of 5", HOSTILE]
    assert second[0] == "2"


@each_language
def test_an_attempt_is_counted_among_all_answers_though_some_were_no_answers(language):
    shown = the(AttemptsDetail)
    first, second = shown.attempts
    third = second.model_copy(update={"number": 3})
    told = summaries(language, [shown.model_copy(update={"attempts": (first, third), "chosen": 3})])
    assert told == [texts(language)["summary.attempts"].format(number=3, count=3)]


def test_claims_that_are_not_grounded_are_listed():
    text = Tags(html_of(GroundingDetail(grade=PARTLY, claims=()))).text
    assert f"Not grounded{HOSTILE}2" in text


@each_language
def test_the_row_of_an_answer_says_that_the_model_found_none_in_its_passages(language):
    declined = DeclineDetail(text="No.", queries=("?",), nearest=(BOTH_SIDES,))
    words = texts(language)
    count = words["summary.passages"].format(count=3)
    asked, not_asked = summaries(language, [declined.model_copy(update={"passages": each}) for each in ((1, 2, 3), ())])
    assert asked == words["summary.says_no"].format(passages=count)
    assert shown(not_asked) == words["summary.decline"].format(numbers="[1]")


@each_language
def test_an_attached_file_that_is_already_in_the_index_is_told_as_unchanged(language):
    results = [
        added(None),
        added(None).model_copy(update={"status": IngestStatus.UNCHANGED}),
        added(EmptyDocument(name="")),
    ]
    words = texts(language)
    told = " · ".join(words[f"job.{each}_one"] for each in ("ready", "unchanged", "failed"))
    documents = DocumentsDetail(added=tuple(results))
    assert summaries(language, [documents]) == [told]
    assert words["chunk.sections"].format(count=0) in html_of(documents, language)


@each_language
def test_a_question_that_is_not_rewritten_is_not_told_as_the_one_before_a_rewrite(language):
    same = StandaloneDetail(before="日当は?", after="日当は?", why="stands_alone")
    html, words = html_of(same, language), texts(language)
    assert f"<dt>{words['detail.question']}</dt><dd>日当は?</dd>" in html
    assert words["detail.before"] not in html


@each_language
def test_no_answer_tells_what_the_index_holds_of_the_question_and_what_of_that_was_not_found(language):
    missed = BOTH_SIDES.model_copy(update={"number": 2, "text": "The green car needs a director."})
    probe = Probe(
        nearest=(missed, BOTH_SIDES), shares=(0.75, 0.5), seen=(1,), mean=0.1, words=("car",), absent=("hovercraft",)
    )
    without = DeclineDetail(text="No.", queries=("?",), nearest=(BOTH_SIDES,))
    html, words = html_of(without.model_copy(update={"probe": probe}), language), texts(language)
    held = "\n".join(
        words["probe.passage"].format(number=number, share=share) for number, share in (("[2]", "75%"), ("[1]", "50%"))
    )
    assert f"<dd>{held}</dd>" in html
    assert "hovercraft" in Tags(html).text
    _, _, not_found = html.partition(words["probe.missed"])
    assert "The green car needs a director." in Tags(not_found).text
    assert not_found.count('class="passage"') == 1
    assert words["probe.title"] not in html_of(without, language)


def explained(*factors: float) -> Grounding:
    named = tuple(Factor(en=f"factor {number}", ja=f"要素{number}", value=each) for number, each in enumerate(factors))
    explanation = Explanation(en="log-odds", ja="対数オッズ", factors=named, threshold=-0.3)
    return Grounding(verdict="yes", score=0.6, explanation=explanation)


@each_language
def test_an_explanation_of_several_factors_names_each_of_them(language):
    text = Tags(html_of(GroundingDetail(grade=explained(0.1, 0.2), claims=()), language)).text
    assert {"ja": "要素0 +0.1、要素1 +0.2", "en": "factor 0 +0.1, factor 1 +0.2"}[language] in text
    assert "+0.3" in text


@each_language
def test_a_grade_says_its_verdict_and_score_first_and_how_it_came_about_when_asked(language):
    graded = PassageGrade(passage=BOTH_SIDES, grade=NO.model_copy(update={"reason": "It says nothing of it."}))
    html = html_of(GradesDetail(question="?", grades=(graded,)), language)
    line, _, opened = html.partition("</summary>")
    told = {"ja": "関連なし、0.10", "en": "not relevant, 0.10"}[language]
    assert told in Tags(line).text
    assert "It says nothing of it." not in line
    assert "-4.0" not in line
    how, _, asked = opened.partition(f"<summary>{texts(language)['detail.how']}</summary>")
    assert how == '<details class="how">'
    assert "It says nothing of it." in asked
    assert "-4.0" in asked
    assert "+0.5" in asked


@pytest.mark.parametrize(
    "detail",
    [GroundingDetail(grade=explained(0.5), claims=()), AssessmentDetail(grades=(), lower=0, upper=1, action="correct")],
    ids=["grounding", "nothing graded"],
)
def test_no_sum_stands_outside_of_a_fold(detail):
    html = re.sub('<details class="how">.*?</details>', "", html_of(detail), flags=re.DOTALL)
    assert "log-odds" not in html


def test_a_grade_without_a_reason_has_nothing_to_unfold():
    assert "<details" not in html_of(GroundingDetail(grade=OF_BEFORE, claims=()))


def test_an_explanation_of_one_factor_tells_it_once():
    assert Tags(html_of(GroundingDetail(grade=explained(0.5), claims=()))).text.count("+0.5") == 1


def test_an_explanation_of_nothing_has_no_minus():
    assert "log-odds +0.0, threshold -0.3" in Tags(html_of(GroundingDetail(grade=explained(-0.04), claims=()))).text


@pytest.mark.parametrize(
    ("passages", "told"), [((1,), "1 passage"), ((1, 2), "2 passages")], ids=["one", "more than one"]
)
def test_a_number_and_its_noun_agree(passages, told):
    example = GenerationDetail(passages=passages, text="Three days.", cited=())
    summary, _ = for_reader("en", lambda: detail.summary(finished(example)))
    assert shown(summary) == f"11 characters, from {told}"


def test_one_piece_and_one_answer_are_not_told_as_several():
    piece = the(RefinementDetail).strips[0]
    answer = Candidate(passage=None, text="It is.", relevance=NO, grounding=PARTLY, usefulness=NOT_RATED, score=0.5)
    alone = [RefinementDetail(strips=(piece,)), CandidatesDetail(candidates=(answer,))]
    assert [shown(each) for each in summaries("en", alone)] == ["strips kept: 1 of 1", "answers grounded: 0 of 1"]

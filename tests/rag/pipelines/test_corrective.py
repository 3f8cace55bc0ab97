"""Corrective RAG: every edge of its graph, with Tavily's own client and a local server."""

import pytest

from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.nodes.refine import GAP
from rag.text.no_answer import no_answer_sentence
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.conftest import TAVILY_KEY
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import decisions, finished, started_steps, tokens
from tests.rag.scripted import Gate, Held
from tests.rag.verdicts import NO, PROSE, SECRET_WORD, YES, verdict
from tests.servers import Fault, Refusal, WebResult

WEB_QUERY = "出張 日当 相場"
AVERAGE = "日当の相場は1日2,000円から3,000円です。"
FOUND = WebResult("日当の相場", "https://allowance.example/average", f"{AVERAGE}広告の欄に続きます。")
BESIDE = verdict("no", 0.45)
"""a score between the two thresholds"""


@pytest.fixture
def ask(open_engine, chat, tavily):
    """The web search finds FOUND. No passage is relevant unless a test says so."""
    tavily.default = [FOUND]
    for words in (JA, EN):
        chat.answer_when(words.relevance, answer=NO)
    chat.answer_when(JA.web_query, answer=f"「{WEB_QUERY}」\n")

    def ask(question: str = QUESTION, *, web: bool = True, **values: object):
        engine = open_engine(chat, tavily=tavily if web else None, **values)
        return engine.ask(question, index=INDEX, pipeline_name="corrective")

    return ask


def detail(run, step: str):
    [done] = finished(run.events, step)
    return done.detail


def test_one_passage_that_is_surely_relevant_is_enough(ask, chat, tavily):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=YES)
    chat.enqueue(ANSWER)
    run = ask()
    result = run.result()
    assert started_steps(run.events) == ["retrieve", "grade_documents", "assess", "refine", "generate"]
    assert decisions(run.events) == [("refine", "correct")]
    assert (result.status, result.outcome, result.answer) == ("finished", "answered", ANSWER)
    assert result.totals.model_calls == 5
    [prompt] = chat.prompts_with(JA.answer)
    assert prompt.count("<passage number=") == 1
    assessed = detail(run, "assess")
    assert (assessed.action, assessed.rule, assessed.lower, assessed.upper) == ("correct", "scores", 0.4, 0.7)
    assert [each.grade.score for each in assessed.grades].count(0.9) == 1
    assert tavily.requests == []


def test_where_nothing_is_usable_all_is_dropped_and_the_web_is_asked_in_other_words(ask, chat, tavily):
    chat.enqueue("相場は1日2,000円から3,000円です[5]。")
    run = ask()
    result = run.result()
    assert started_steps(run.events)[2:] == ["assess", "rewrite_for_web", "web_search", "refine", "generate"]
    assert decisions(run.events) == [("rewrite_for_web", "incorrect"), ("refine", "found_on_web")]
    assert tavily.queries == [WEB_QUERY]
    rewrite, searched = detail(run, "rewrite_for_web"), detail(run, "web_search")
    assert (rewrite.before, rewrite.after) == (QUESTION, WEB_QUERY)
    assert (searched.query, searched.provider, searched.why) == (WEB_QUERY, "tavily", None)
    [prompt] = chat.prompts_with(JA.answer)
    assert '<passage number="5" title="日当の相場" origin="web">' in prompt
    assert ALLOWANCE not in prompt
    assert f"質問: {QUESTION}" in prompt
    [citation] = result.citations
    assert (citation.number, citation.origin, citation.source) == (5, "web", FOUND.url)
    assert (citation.text, citation.title) == (FOUND.content, "日当の相場")
    assert (result.totals.rewrites, result.outcome) == (1, "answered")
    assert SECRET_WORD not in tokens(run.events)
    assert WEB_QUERY not in tokens(run.events)


def test_in_doubt_documents_and_web_are_used_together(ask, chat):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=BESIDE)
    chat.enqueue("日当は2,500円です[1]。相場の内です[5]。")
    run = ask()
    result = run.result()
    assert decisions(run.events) == [("rewrite_for_web", "ambiguous"), ("refine", "found_on_web")]
    [prompt] = chat.prompts_with(JA.answer)
    assert prompt.count("<passage number=") == 2
    assert ALLOWANCE in prompt
    assert AVERAGE in prompt
    assert [(each.number, each.origin) for each in result.citations] == [(1, "documents"), (5, "web")]


def test_a_date_that_the_service_gives_is_told_to_the_model_and_in_the_citation(ask, chat, tavily):
    tavily.default = [WebResult("日当", "https://a.example/", AVERAGE, published_date="Fri, 20 Nov 2026")]
    chat.enqueue("相場です[5]。")
    run = ask()
    assert run.result().citations[0].published == "Fri, 20 Nov 2026"
    assert 'published="Fri, 20 Nov 2026"' in chat.prompts_with(JA.answer)[0]


def test_by_the_articles_rule_one_irrelevant_passage_asks_the_web(ask, chat):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=YES)
    run = ask(corrective_rule="any")
    run.result()
    assert decisions(run.events)[0] == ("rewrite_for_web", "ambiguous")
    assert detail(run, "assess").rule == "any"
    [prompt] = chat.prompts_with(JA.answer)
    assert (prompt.count("<passage number="), ALLOWANCE in prompt, AVERAGE in prompt) == (2, True, True)


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (YES, "correct"),
        *(pytest.param(*each, marks=pytest.mark.soak) for each in ((NO, "incorrect"), (PROSE, "correct"))),
    ],
)
def test_with_the_articles_rule_equal_grades_are_never_ambiguous(ask, chat, answer, action):
    chat.answer_when(JA.relevance, answer=answer)
    if answer is PROSE:
        chat.answer_when(JA.relevance, ALLOWANCE, answer=YES)
    run = ask(corrective_rule="any")
    run.result()
    assert detail(run, "assess").action == action


@pytest.mark.parametrize(
    ("score", "lower", "upper", "action"),
    [
        (0.7, 0.3, 0.7, "correct"),
        (0.3, 0.3, 0.7, "ambiguous"),
        (0.29, 0.3, 0.7, "incorrect"),
        pytest.param(0.69, 0.3, 0.7, "ambiguous", marks=pytest.mark.soak),
        pytest.param(0.29, 0.2, 0.7, "ambiguous", marks=pytest.mark.soak),
        pytest.param(0.6, 0.3, 0.6, "correct", marks=pytest.mark.soak),
        pytest.param(0.5, 0.5, 0.5, "correct", marks=pytest.mark.soak),
    ],
)
def test_two_thresholds_part_correct_from_ambiguous_from_incorrect(ask, chat, score, lower, upper, action):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=verdict("yes" if score >= 0.5 else "no", score))
    run = ask(crag_lower=lower, crag_upper=upper)
    run.result()
    assert detail(run, "assess").action == action


def test_a_passage_whose_grade_cannot_be_read_speaks_neither_for_nor_against(ask, chat):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=PROSE)
    run = ask()
    run.result()
    assert detail(run, "assess").action == "ambiguous"
    assert ALLOWANCE in chat.prompts_with(JA.answer)[0]


def test_a_yes_of_which_the_grader_is_not_sure_leads_to_the_web(ask, chat, tavily):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=verdict("yes", 0.2))
    run = ask()
    run.result()
    assert detail(run, "assess").action == "ambiguous"
    assert tavily.queries == [WEB_QUERY]


def test_graders_that_give_no_score_are_taken_at_their_word(ask, chat):
    chat.answer_when(JA.relevance, answer='{"verdict": "no"}')
    chat.answer_when(JA.relevance, ALLOWANCE, answer='{"verdict": "yes"}')
    run = ask()
    run.result()
    assert detail(run, "assess").action == "correct"


def test_without_web_search_a_step_says_so_and_it_answers_from_what_there_is(ask, chat):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=BESIDE)
    chat.enqueue(ANSWER)
    run = ask(web=False)
    result = run.result()
    assert decisions(run.events) == [("web_search", "ambiguous"), ("refine", "what_there_is_without_web")]
    searched = detail(run, "web_search")
    assert (searched.why, searched.provider, searched.query) == ("off", None, QUESTION)
    assert chat.prompts_with(JA.web_query) == []
    assert (result.answer, result.status) == (ANSWER, "finished")


def test_without_web_search_and_with_nothing_usable_it_declines(ask, chat):
    run = ask(web=False)
    result = run.result()
    assert started_steps(run.events)[2:] == ["assess", "web_search", "decline"]
    assert decisions(run.events) == [("web_search", "incorrect"), ("decline", "nothing_without_web")]
    assert result.outcome == "not_in_documents"
    assert chat.prompts_with(JA.answer) == []


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (Refusal(401, message=f"Invalid: {TAVILY_KEY}"), "web_key_refused"),
        # Each without a run: tests/rag/web/test_tavily.py.
        pytest.param(Refusal(429), "web_limit_reached", marks=pytest.mark.soak),
        pytest.param(Refusal(500), "web_search_failed", marks=pytest.mark.soak),
        pytest.param(Fault.CLOSES, "web_unreachable", marks=pytest.mark.soak),
        pytest.param(Fault.MALFORMED, "web_answer_unreadable", marks=pytest.mark.soak),
    ],
    ids=lambda value: str(value),
)
def test_a_search_that_fails_is_told_and_the_run_goes_on_with_what_there_is(ask, chat, tavily, trouble, code):
    chat.answer_when(JA.relevance, ALLOWANCE, answer=BESIDE)
    chat.enqueue(ANSWER)
    tavily.fails(trouble)
    run = ask()
    result = run.result()
    [step] = finished(run.events, "web_search")
    assert (step.detail.why, step.detail.error, step.fallback.code) == ("failed", step.fallback, code)
    assert (step.error, step.verdict) == (None, "no")
    assert (result.status, result.answer, result.error) == ("finished", ANSWER, None)
    assert not any(TAVILY_KEY in event.model_dump_json() for event in run.events)


def test_stopping_ends_a_search_that_hangs(ask, tavily):
    tavily.fails(Fault.HANGS)
    run = ask()
    [request] = tavily.wait_for_requests(1)
    run.stop()
    assert run.result().status == "stopped"
    assert request.disconnected.wait(PATIENCE)


@pytest.mark.parametrize(
    "written",
    [
        "出差补贴的市场价格是多少?请告诉我",
        pytest.param("average allowance", marks=pytest.mark.soak),
        pytest.param("あ" * 301, marks=pytest.mark.soak),
    ],
)
def test_a_query_in_another_language_or_too_long_is_refused_and_the_question_searched(ask, chat, tavily, written):
    chat.answer_when(JA.web_query, answer=written)
    run = ask()
    run.result()
    assert tavily.queries == [QUESTION]
    rewrite = detail(run, "rewrite_for_web")
    assert (rewrite.after, rewrite.refused) == (QUESTION, written)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("検索文は次のとおりです：\n\n日当の相場", marks=pytest.mark.soak),
        pytest.param("検索クエリ：「日当の相場」", marks=pytest.mark.soak),
        '```json\n{"query": "日当の相場"}\n```',
    ],
)
def test_what_a_model_writes_around_the_query_for_the_web_is_not_searched(ask, chat, tavily, written):
    chat.answer_when(JA.web_query, answer=written)
    ask().result()
    assert tavily.queries == ["日当の相場"]


def test_a_rewrite_that_fails_leaves_the_question_as_it_is(ask, chat, tavily):
    chat.answer_when(JA.web_query, answer="")
    run = ask()
    assert run.result().status == "finished"
    [step] = finished(run.events, "rewrite_for_web")
    assert (step.fallback.code, step.verdict) == ("empty_reply", "no")
    assert tavily.queries == [QUESTION]


def test_the_same_page_found_twice_is_one_source(ask, chat, tavily):
    tavily.default = [FOUND, FOUND]
    run = ask()
    run.result()
    assert [each.number for each in detail(run, "web_search").passages] == [5]


def test_what_does_not_bear_on_the_question_is_cut_and_the_citation_still_opens_where_it_was_found(ask, chat, tavily):
    fact = f"国内への出張の日当は{'、行き先と役職のどちらにもよらず' * 3}、1日あたり2,500円と定めます。"
    aside = f"この一文は{'、質問と何の関わりもない長い余談であり' * 3}、読み進めた人の役に立つものではありません。"
    rule = f"ただし出張の日当がいくらになるかは{'、あらかじめ届け出たうえで' * 4}、部長が決めることもできます。"
    tavily.default = [WebResult("規程", "https://a.example/", f"{fact}{aside}{rule}")]
    chat.enqueue("部長が決めます[5]。")
    run = ask()
    [citation] = run.result().citations
    strips = detail(run, "refine").strips
    assert [(strip.text, strip.kept) for strip in strips] == [(fact, True), (aside, False), (rule, True)]
    assert citation.text == f"{fact}{aside}{rule}"
    [prompt] = chat.prompts_with(JA.answer)
    assert "2,500円と定めます。" in prompt
    assert GAP in prompt
    assert citation.text not in prompt


# Also in test_speculative_answer.py::test_a_speculative_answer_is_shown_before_the_first_grade_is_there.
@pytest.mark.soak
def test_all_passages_are_graded_side_by_side(ask, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    run = ask()
    gate.wait_for(4)
    gate.open()
    assert run.result().status == "finished"


def test_an_english_question_is_reworded_and_answered_in_english(ask, chat, tavily):
    chat.answer_when(EN.web_query, answer="height of the tower")
    tavily.default = [WebResult("Tower", "https://tower.example/", "The tower is 333 m high.")]
    chat.enqueue("333 m [5].")
    result = ask("How tall is the tower?").result()
    assert (result.answer, tavily.queries) == ("333 m [5].", ["height of the tower"])
    assert chat.prompts_with(EN.answer)


# Also in tests/rag/nodes/test_decline.py::test_it_is_said_in_the_language_of_the_question.
@pytest.mark.soak
def test_an_english_question_about_nothing_that_is_known_is_declined_in_english(ask):
    assert ask("How tall is the tower?", web=False).result().answer.startswith(no_answer_sentence(INDEX, "en"))


def test_a_speculative_answer_from_the_refined_passages_is_the_answer_when_all_stay(ask, chat):
    chat.answer_when(JA.relevance, answer=YES)
    chat.enqueue(ANSWER)
    run = ask(draft_ahead=True)
    result = run.result()
    assert set(started_steps(run.events)[1:3]) == {"grade_documents", "draft_refined"}
    assert started_steps(run.events)[3:] == ["assess", "refine", "generate"]
    assert detail(run, "generate").drafted
    assert (result.answer, result.totals.model_calls, len(chat.prompts_with(JA.answer))) == (ANSWER, 5, 1)


# Also in test_speculative_answer.py, with the same grades.
@pytest.mark.soak
def test_a_speculative_answer_is_shown_before_the_first_grade_is_there(ask, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    chat.enqueue(ANSWER)
    run = ask(draft_ahead=True)
    gate.wait_for(4)
    assert eventually(lambda: tokens(run.events) == ANSWER)
    gate.open()
    assert run.result().answer == ANSWER


@pytest.mark.parametrize("others", [pytest.param(NO, marks=pytest.mark.soak), BESIDE])
def test_a_speculative_answer_is_void_when_a_passage_goes_or_the_web_comes_beside(ask, chat, others):
    chat.answer_when(JA.relevance, answer=others)
    chat.answer_when(JA.answer, answer="下書きです[1]。", times=1)
    chat.enqueue("日当は2,500円です[1]。")
    run = ask(draft_ahead=True)
    result = run.result()
    assert not detail(run, "draft_refined").kept
    assert not detail(run, "generate").drafted
    assert result.answer == "日当は2,500円です[1]。" if others is BESIDE else "下書き" not in result.answer


def test_where_the_web_knows_nothing_either_it_says_with_which_words_the_documents_and_the_web_were_searched(
    ask, chat, tavily
):
    tavily.default = []
    run = ask()
    assert run.result().outcome == "not_in_documents"
    assert detail(run, "web_search").why == "nothing"
    answer = run.result().answer
    assert (
        f"「{INDEX}」を次の言葉で検索しました: 「{QUESTION}」。Web を次の言葉で検索しました: 「{WEB_QUERY}」。"
        in answer
    )
    chat.answer_when(EN.web_query, answer="height of the tower")
    answer = ask("How tall is the tower?").result().answer
    assert f"Searched “{INDEX}” for “How tall is the tower?”. Searched the web for “height of the tower”." in answer

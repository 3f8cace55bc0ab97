"""The Runs page: its list of runs, what it shows of one run, and the actions on it."""

import json
import threading
from math import isnan
from urllib.parse import parse_qsl

import pytest

from index_store.access.principal import LOCAL
from pages.samples.faults import FAULTS
from pages.widgets.runs import one_run, table
from pages.widgets.runs.table import PAGE
from pages.words.amounts import when
from rag.models.service.en import EN
from rag.models.service.no_answer import TOKEN
from rag.runs.fork.edits import EditQuery
from rag.runs.run.options import RunOptions
from rag.trace.derived.cause import Finding
from rag.trace.details import RetrievalDetail
from rag.trace.events import RunFinished, RunStarted, StepFinished, Totals
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.helpers.looks import one_language
from tests.index_store.parsing.loaders.pdf_file import SCAN, PdfFile, Text, painted
from tests.pages.conftest import restart
from tests.pages.documents import add
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.runs_page import RunsPage
from tests.rag.reading import finished
from tests.rag.verdicts import YES, grounding, rating, verdict
from tests.servers import Answer, TavilyServer
from tests.servers.tavily_server import WebResult

NOT_FOUND = FAULTS[1]

SIDEBAR, MARGINS, TICKS = 300, 66, 33
"""widths in pixels; TICKS: of the column with the check boxes"""


@pytest.fixture
def ask(engine, tmp_path):
    """Asks an index with a handbook, and waits for the end of the run."""
    add(engine, tmp_path, "travel.md")

    def ask(question: str, pipeline: str = "naive", **options) -> str:
        run = engine.ask(question, index="handbook", pipeline_name=pipeline, **options)
        run.result()
        return run.id

    return ask


def stored(engine, count: int, seconds: float | None = None, first: int = 0, tokens: int | None = None) -> list[str]:
    """Saves runs without running them, the earliest first. `seconds`: that each took; by default its number. `first`:
    number of the first one. `tokens`: of each; by default the fewer the later.
    """
    conversation = process_of(engine).history.conversations.new("many", principal=LOCAL).id
    for number in range(first, first + count):
        started = RunStarted(
            run_id=f"r{number}", conversation_id=conversation, question=f"Question {number}", index="handbook",
            pipeline="naive" if number % 2 else "hybrid", model="m", at=1_000_000 + number,
        )  # fmt: skip
        totals = Totals(
            seconds=number if seconds is None else seconds, tokens_in=count - number if tokens is None else tokens
        )
        process_of(engine).history.save(started.run_id, started)
        process_of(engine).history.save(
            started.run_id,
            RunFinished(status="finished", answer="a", outcome="answered", citations=(), totals=totals),
        )
    return [f"r{number}" for number in range(first, first + count)]


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.usefixtures("engine")
def test_before_the_first_question_the_page_says_what_to_do(language):
    page = RunsPage(language)
    assert page.words["runs.empty"] in page.text
    assert page.table == []


@one_language("ja")
def test_a_run_is_listed_with_what_it_came_to(engine, server, ask, language):
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    run_id = ask("Who pays for the hovercraft?")
    engine.history.rate(run_id, -1)
    page = RunsPage(language)
    assert page.questions == ["Who pays for the hovercraft?"]
    assert page.column("runs.result") == [[page.words["outcome.not_in_documents"]]]
    assert page.column("runs.thumb") == ["👎"]
    assert page.column("runs.why") == [page.words["cause.no_document"]]
    assert page.column("runs.index") == ["handbook"]
    assert page.column("pipeline.label") == [page.words["pipeline.naive"]]
    assert page.column("runs.tokens")[0] > 0
    assert page.column("runs.seconds")[0] > 0


def test_tokens_that_no_service_told_are_not_called_none(engine):
    stored(engine, 1, tokens=0)
    stored(engine, 1, tokens=1500, first=1)
    told, untold = RunsPage().column("runs.tokens")
    assert told == 1500
    assert isnan(untold)  # the cell is empty


@pytest.mark.parametrize("sign", ["＝", pytest.param("=", marks=pytest.mark.soak)])
def test_a_question_that_begins_like_a_formula_is_none_in_the_file_of_the_table(ask, sign):
    ask(f" {sign}HYPERLINK(A1)")
    assert RunsPage().questions == [f"\u2060{sign}HYPERLINK(A1)"]


def test_runs_are_searched_filtered_and_sorted(engine, server, ask):
    ask("Who approves the green car?")
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    declined = ask("Who pays for the hovercraft?", "hybrid")
    ask("Is there a hovercraft?", "naive")
    page = RunsPage()
    assert page.questions == ["Is there a hovercraft?", "Who pays for the hovercraft?", "Who approves the green car?"]
    assert page.choose("runs.order", "earliest").questions[0] == "Who approves the green car?"
    assert len(page.search("HOVERCRAFT").table) == 2
    assert len(page.choose("runs.state_any", "no_answer").table) == 2
    assert page.choose("runs.pipeline_any", "hybrid").questions == ["Who pays for the hovercraft?"]
    assert page.choose("runs.state_any", "thumb_down").table == []
    assert page.words["runs.none_found"] in page.text
    engine.history.rate(declined, -1)
    assert len(page.look().table) == 1
    assert page.choose("runs.why_any", "misread").table == []
    assert len(page.choose("runs.why_any", "no_document").table) == 1


def test_the_search_takes_no_more_words_than_the_database_can_look_for(ask):
    ask("Who approves the green car?")
    page = RunsPage()
    assert page.search("a " * 5_000).questions == ["Who approves the green car?"]


def test_votes_are_listed_and_the_runs_that_have_some_are_found(engine, ask):
    first, second = ask("Who approves the green car?"), ask("Who approves a hotel?")
    for _ in range(2):
        comparison = engine.comparisons.keep([first, second])
        engine.comparisons.vote(comparison.id, first)
    page = RunsPage()
    votes = dict(zip(page.questions, page.column("runs.votes"), strict=True))
    assert votes["Who approves the green car?"] == 2
    assert isnan(votes["Who approves a hotel?"])  # no votes: the cell is empty
    assert page.choose("runs.state_any", "voted").questions == ["Who approves the green car?"]


@one_language("en")
def test_the_columns_up_to_the_votes_fit_a_window_of_1280_pixels(engine, language):
    stored(engine, 1)
    page = RunsPage(language)
    columns = json.loads(page.app.dataframe[0].proto.columns)
    names = [name for name in columns if name != "_index"]
    shown = [columns[name]["width"] for name in names[: names.index(page.words["runs.votes"]) + 1]]
    assert sum(shown) <= 1280 - SIDEBAR - MARGINS - TICKS


@one_language("ja")
def test_a_run_leads_to_where_it_was_asked(engine, ask, language):
    chat = ask("Who approves the green car?")
    columns = (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid"))
    comparison = engine.comparisons.begin("Who approves a hotel?", "handbook", columns)
    column = comparison.run_ids[1]
    fork = engine.forks.begin(chat, "retrieve", 1, [EditQuery(query="hotels")]).id
    for each in (*comparison.run_ids, fork):
        engine.run(each).result()
    places = {
        chat: ("runs.in_chat", {"c": engine.history.run(chat).conversation_id, "b": chat}),
        column: ("runs.in_comparison", {"c": comparison.id}),
        fork: ("runs.beside_origin", {"runs": f"{chat},{fork}", "step": "retrieve-1"}),
    }
    for run_id, (key, address) in places.items():
        page = RunsPage(language, run=run_id)
        [link] = [each for each in page.app.get("page_link") if each.proto.label == page.words[key]]
        assert dict(parse_qsl(link.proto.query_string)) == {**address, "lang": language}


def test_the_chat_opens_the_branch_of_a_run_whatever_was_open_there_before(engine, ask):
    earlier = engine.history.run(ask("Who approves the green car?"))
    ask("Who books it?", conversation_id=earlier.conversation_id, edits=earlier.id)
    other = engine.history.run(ask("Who approves a hotel?"))
    for page in (ChatPage(), ChatPage(conversation=other.conversation_id, branch=other.id)):
        page.go("runs", run=earlier.id)
        page.follow("runs.in_chat")
        assert (page.conversation, page.branch) == (earlier.conversation_id, earlier.id)
        [question] = page.questions
        assert "Who approves the green car?" in question


# Also in tests/pages/widgets/chat/conversation/test_shown.py, after a reload.
@pytest.mark.soak
def test_the_chat_still_shows_its_conversation_and_branch_after_a_look_at_another_page(engine, ask):
    first = engine.history.run(ask("Who approves the green car?"))
    ask("Who books it?", conversation_id=first.conversation_id, edits=first.id)
    page = ChatPage(conversation=first.conversation_id, branch=first.id)
    page.follow("app.runs").follow("app.chat")
    assert (page.conversation, page.branch) == (first.conversation_id, first.id)
    assert "Who approves the green car?" in page.questions[0]
    page.go("runs").go("chat")
    assert page.conversation == first.conversation_id


# Also in test_chat_extras.py::test_below_an_answer_that_is_not_good_a_fold_says_why.
@pytest.mark.soak
def test_a_thumb_down_on_an_answer_counts_as_misread_and_is_found_so(engine, ask):
    engine.history.rate(ask("Who approves the green car?"), -1)
    page = RunsPage().choose("runs.why_any", "misread")
    assert page.column("runs.why") == [page.words["cause.misread"]]


def test_many_runs_are_read_a_page_at_a_time(engine):
    stored(engine, PAGE + 5)
    page = RunsPage()
    assert page.questions == [f"Question {number}" for number in range(PAGE + 4, 4, -1)]
    assert page.words["runs.shown"].format(first=1, last=PAGE, count=PAGE + 5) in page.text
    page.app.button(key="runs-older").click()
    assert page.look().questions == [f"Question {number}" for number in range(4, -1, -1)]
    assert page.choose("runs.order", "slowest").questions[0] == f"Question {PAGE + 4}"
    assert page.choose("runs.order", "most_tokens").questions[0] == "Question 0"
    assert len(page.choose("runs.state_any", "slow").table) == (PAGE + 5) // 10 + 1


@pytest.mark.soak
def test_a_ticked_run_that_is_deleted_does_not_stay_ticked_where_nobody_sees_it(engine):
    for number in range(3):
        stored(engine, 1, first=number)
    stored(engine, PAGE, first=3)
    page = RunsPage()
    page.app.session_state["ticked runs"] = ("r2", "r0", "r1")
    engine.delete_conversation(engine.history.run("r0").conversation_id)
    page.look()
    assert page.app.session_state["ticked runs"] == ("r2", "r1")
    links = [each.proto.label for each in page.app.get("page_link")]
    assert page.words["runs.side_by_side"].format(count=2) in links


def test_the_address_of_the_list_shows_it_to_others_and_after_a_look_at_a_run(engine, monkeypatch):
    monkeypatch.setattr(table, "PAGE", count := 5)
    stored(engine, 2 * count + 10)
    page = RunsPage()
    assert not {"q", "state", "pipeline", "order", "after"} & set(page.app.query_params)
    page.choose("runs.pipeline_any", "hybrid").choose("runs.order", "earliest").search("question")
    page.app.button(key="runs-older").click()
    shown = page.look().questions
    assert shown == [f"Question {number}" for number in range(2 * count, 2 * count + 10, 2)]
    address = {name: page.parameter(name) for name in ("q", "pipeline", "order", "after")}
    assert address == {"q": "question", "pipeline": "hybrid", "order": "earliest", "after": f"r{2 * count - 2}"}
    assert RunsPage(**address).questions == shown
    run = RunsPage(**address, run="r5")
    [back] = [each.proto for each in run.app.get("page_link") if run.words["runs.back"] in each.proto.label]
    assert dict(parse_qsl(back.query_string)) == {**address, "lang": "en"}
    assert page.go("documents").go("runs").questions == shown
    assert page.parameter("pipeline") == "hybrid"
    assert len(page.choose("runs.pipeline_any", "").table) == count
    assert (page.parameter("pipeline"), page.parameter("after")) == (None, None)


def test_what_an_address_of_the_list_names_and_does_not_exist_is_ignored(engine):
    stored(engine, 3)
    page = RunsPage(state="x", why="x", pipeline="x", index="x", order="x", after="x")
    assert page.questions == ["Question 2", "Question 1", "Question 0"]


@pytest.mark.soak
def test_runs_that_come_while_one_turns_pages_repeat_none(engine):
    stored(engine, 2 * PAGE + 5)
    page = RunsPage()
    seen = list(page.questions)
    for count in (7, 3):
        stored(engine, count, first=len(seen) + 1000)
        page.app.button(key="runs-older").click()
        seen += page.look().questions
    assert seen == [f"Question {number}" for number in range(2 * PAGE + 4, -1, -1)]
    page.app.button(key="runs-newer").click()
    assert page.look().questions == seen[PAGE : 2 * PAGE]
    for _ in range(2):
        page.app.button(key="runs-newer").click()
        page.look()
    assert page.parameter("after") is None


@one_language("en")
def test_the_address_of_a_run_opens_it_with_the_reason_for_no_answer(server, ask, language):
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    page = RunsPage(language, run=ask("Who pays for the hovercraft?"))
    assert "Who pays for the hovercraft?" in page.html
    assert [each for each in page.app.expander if page.words["pipeline.naive"] in each.label]
    assert 'class="run-graph"' in page.html
    assert 'class="answer"' in page.html
    assert page.words["cause.no_document_note"] in page.text
    assert "hovercraft" in next(each.value for each in page.app.caption if "hovercraft" in each.value)
    page.choose("runs.why_label", "refused_rightly")
    assert page.words["cause.refused_rightly_note"] in page.text
    assert page.words["cause.no_document"] in page.text  # the reason in the trace is still shown
    listed = RunsPage(language)
    assert listed.column("runs.why")[0] == page.words["cause.refused_rightly"]


@one_language("ja")
@pytest.mark.parametrize(("pipeline", "grader", "outcome"), [
    ("self_rag", EN.grounding, "unconfirmed"),
    pytest.param("self_rag_candidates", EN.retrieval_need, "from_model", marks=pytest.mark.soak),
])  # fmt: skip
def test_an_answer_that_no_source_confirms_is_not_called_a_good_one(
    engine, ask, server, language, pipeline, grader, outcome
):
    sure = json.dumps({"reason": "It does.", "verdict": "yes", "score": 0.9})
    server.answer_when(lambda request: request.schema is not None, sure)
    reply = json.dumps({"reason": "Known.", "verdict": "no", "score": 0.01}) if outcome == "from_model" else "Hm."
    server.answer_when(lambda request: grader[:60] in request.prompt, reply)
    server.default = "A director approves it [1]."
    run_id = ask("Who approves the green car?", pipeline)
    page = RunsPage(language, run=run_id)
    why = next(each for each in page.app.selectbox if each.key.startswith("cause-"))
    assert why.options[0] == page.words["runs.by_trace"].format(cause=page.words[f"outcome.{outcome}"])
    assert page.words["runs.unclear"] in page.text
    why.set_value("none")
    page.look()
    assert page.words["cause.none_note"] not in page.text
    if outcome == "from_model":  # it read no passage that it could have misread
        engine.run_list.set_cause(run_id, None)
        engine.history.rate(run_id, -1)
        assert page.words["runs.unclear"] in page.look().text


@pytest.mark.soak
@one_language("en")
def test_of_an_answer_that_a_check_dropped_it_is_not_said_that_the_model_found_none(ask, server, language):
    server.answer_when(lambda request: EN.relevance in request.prompt, YES)
    server.answer_when(lambda request: EN.grounding in request.prompt, grounding("no", "A director approves it."))
    page = RunsPage(language, run=ask("Who approves the green car?", "self_rag"))
    assert page.words["cause.misread_note"] in page.text
    assert page.words["runs.misread_as_none"] not in page.text


@one_language("en")
@pytest.mark.parametrize("pipeline", ["naive", pytest.param("self_rag_candidates", marks=pytest.mark.soak)])
def test_a_model_that_finds_no_answer_in_the_passage_that_has_it_is_not_said_to_have_answered(
    ask, server, language, pipeline
):
    server.answer_when(lambda request: request.schema is not None, YES)
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    page = RunsPage(language, run=ask("Who approves the green car?", pipeline))
    assert page.words["runs.misread_as_none"] in page.text
    assert page.words["cause.misread_note"] not in page.text


@one_language("ja")
@pytest.mark.parametrize(
    "pipeline", ["self_rag", pytest.param("adaptive", marks=pytest.mark.soak)]
)  # kept, and dropped
def test_an_answer_that_is_grounded_and_not_useful_is_not_said_to_differ_from_its_sources(
    ask, server, language, pipeline
):
    sure = json.dumps({"reason": "It does.", "verdict": "yes", "score": 0.9})
    server.answer_when(lambda request: request.schema is not None, sure)
    server.answer_when(lambda request: EN.usefulness[:60] in request.prompt, rating(1))
    server.default = "A director approves it [1]."
    page = RunsPage(language, run=ask("Who approves the green car?", pipeline))
    assert page.words["runs.misread_as_not_useful"] in page.text
    assert page.words["cause.misread_note"] not in page.text


@one_language("en")
@pytest.mark.parametrize(  # disliked by a person, and by a check
    "pipeline", [pytest.param("naive", marks=pytest.mark.soak), "self_rag"]
)
def test_of_an_answer_that_was_cut_it_is_not_said_that_it_was_misread(engine, ask, server, language, pipeline):
    server.answer_when(lambda request: request.schema is not None, YES)
    server.answer_when(lambda request: EN.usefulness[:60] in request.prompt, rating(1))
    server.default = Answer("A director approves it [1], and", finish_reason="length")
    run_id = ask("Who approves the green car?", pipeline)
    if pipeline == "naive":
        engine.history.rate(run_id, -1)
    page = RunsPage(language, run=run_id)
    assert page.words["cut.length"] in [each.value for each in page.app.markdown]  # beside that below the answer
    assert page.words["cause.misread_note"] not in page.text
    assert page.words["runs.misread_as_not_useful"] not in page.text


@one_language("en")
def test_of_a_cut_answer_that_nobody_rated_it_is_not_said_that_nothing_casts_doubt_on_it(engine, ask, server, language):
    server.default = Answer("A director approves it [1], and", finish_reason="length")
    page = RunsPage(language, run=ask("Who approves the green car?", "naive"))
    assert page.words["cause.none_note"] not in page.text


@pytest.mark.soak
@one_language("en")
def test_where_a_person_finds_an_answer_good_that_a_check_rejected_the_trace_is_not_said_to_agree(
    engine, ask, server, language
):
    server.answer_when(lambda request: request.schema is not None, YES)
    server.answer_when(lambda request: EN.usefulness[:60] in request.prompt, rating(1))
    server.default = "A director approves it [1]."
    run_id = ask("Who approves the green car?", "self_rag")
    engine.run_list.set_cause(run_id, "none")
    page = RunsPage(language, run=run_id)
    assert page.words["cause.none_note"] not in page.text
    assert page.words["runs.misread_as_not_useful"] not in page.text


@pytest.mark.soak
@one_language("en")
def test_of_a_disliked_answer_from_the_web_it_is_said_that_no_document_was_read_for_it(
    engine, server, tmp_path, monkeypatch, language
):
    with TavilyServer(key="tvly-test") as tavily:
        monkeypatch.setenv("TAVILY_API_KEY", "tvly-test")
        monkeypatch.setenv("TAVILY_BASE_URL", tavily.url)
        engine = restart()
        tavily.default = [WebResult("Cars", "https://example.com/cars", "The green car is approved by the king.")]
        add(engine, tmp_path, "travel.md")
        server.answer_when(lambda request: request.schema is not None, verdict("no", 0.1))
        server.default = "The king approves it [2]."
        run = engine.ask("Who approves the green car?", index="handbook", pipeline_name="corrective")
        assert run.result().outcome == "answered"
        engine.history.rate(run.id, -1)
        page = RunsPage(language, run=run.id)
        assert page.words["runs.from_web"] in page.text
        assert page.words["cause.misread_note"] not in page.text


@one_language("ja")
def test_where_no_document_has_the_answer_those_that_are_not_searched_are_told(engine, ask, server, tmp_path, language):
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    run_id = ask("How many hovercrafts does Zanzibar own?")
    page = RunsPage(language, run=run_id)
    not_searched = page.words["search.not_searched"]
    assert page.words["cause.no_document_note"] in page.text
    assert not_searched.partition("{counts}")[0] not in page.text
    (file := tmp_path / "hovercrafts.pdf").write_bytes(b"%PDF-1.7 damaged")
    assert engine.store.add("handbook", file, file.name).error is not None
    scan = PdfFile([[Text(50, 700, "The next page lists the fleet.")], [painted(SCAN)]])
    (file := tmp_path / "fleet.pdf").write_bytes(scan.content())
    assert engine.store.add("handbook", file, file.name).pages_without_text
    counts = f"{page.words['search.failed_one']} · {page.words['search.partial_one']}"
    assert not_searched.format(counts=counts) in page.look().text
    engine.store.rename_index("handbook", "house rules")
    assert not_searched.format(counts=counts) in page.look().text


@pytest.mark.soak
@one_language("en")
def test_of_a_passage_that_hybrid_search_missed_hybrid_search_is_not_advised(engine, server, language):
    for each in NOT_FOUND.documents():
        assert engine.store.add(NOT_FOUND.index, each, each.name).error is None
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    run = engine.ask(NOT_FOUND.questions["en"], index=NOT_FOUND.index, pipeline_name="hybrid")
    assert run.result().outcome == "not_in_documents"
    page = RunsPage(language, run=run.id)
    assert page.words["runs.not_found_by_hybrid"] in page.text
    assert page.words["cause.not_found_note"] not in page.text


@pytest.mark.soak
@one_language("en")
def test_a_passage_that_may_have_been_left_out_of_the_context_is_not_said_to_be_one_that_no_search_found(
    engine, server, tmp_path, monkeypatch, language
):
    monkeypatch.setenv("MODEL_CONTEXT", "4096")
    engine = restart()
    use = " ".join(
        f"It is fixed with bolt {number} of the set and is oiled every {number} weeks." for number in range(9)
    )
    parts = "".join(f"## Part ZT-40{number}\n\nPart ZT-40{number} is a hinge. {use}\n\n" for number in range(10, 30))
    (file := tmp_path / "parts.md").write_text(
        f"# Parts\n\n{parts}## Forklift\n\nThe forklift is washed on Fridays. {use} Its lamp is part ZT-4083.\n",
        encoding="utf-8",
    )
    assert engine.store.add("parts", file, file.name).error is None
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    run = engine.ask(
        "What is part ZT-4083?", index="parts", pipeline_name="naive", retrieval=Retrieval(mode="vector", k=20)
    )
    assert run.result().outcome == "not_in_documents"
    [left_out] = [each.detail.left_out for each in finished(run.events, "retrieve")]
    page = RunsPage(language, run=run.id)
    assert page.words["runs.not_found_or_left_out"].format(count=left_out) in page.text
    assert page.words["cause.not_found_note"] not in page.text


@one_language("en")
@pytest.mark.parametrize(
    ("finding", "note"),
    [
        (Finding("not_found", situation="cut_off", left_out=2), "runs.not_found_cut_off"),
        (Finding("graded_away", situation="by_hand"), "runs.graded_away_by_hand"),
        (Finding("no_document", situation="no_document_yet"), "runs.no_document_yet"),
        (Finding("misread", situation="said_none_of_kept"), "runs.misread_of_kept"),
    ],
)
def test_what_the_trace_knows_of_a_cause_stands_in_place_of_its_usual_advice(
    ask, server, monkeypatch, language, finding, note
):
    server.answer_when(lambda request: EN.answer in request.prompt, TOKEN)
    run_id = ask("How many hovercrafts does Zanzibar own?")
    monkeypatch.setattr(one_run, "cause_of", lambda _: finding)
    page = RunsPage(language, run=run_id)
    assert page.words[note] in page.text
    assert page.words[f"cause.{finding.cause}_note"] not in page.text


@one_language("en")
@pytest.mark.usefixtures("engine")
def test_a_run_that_is_gone_is_said_to_be(language):
    page = RunsPage(language, run="nowhere")
    assert page.words["runs.gone"] in page.text


def test_a_run_that_is_deleted_in_another_tab_while_it_is_open_is_said_to_be_gone(engine, ask):
    run_id = ask("Who approves the green car?")
    page = RunsPage(run=run_id)
    engine.delete_conversation(engine.history.run(run_id).conversation_id)
    assert page.words["runs.gone"] in page.look().text


def test_a_run_of_a_pipeline_that_this_version_does_not_know_opens_and_cant_be_asked_again(engine):
    conversation = process_of(engine).history.conversations.new("?", principal=LOCAL).id
    started = RunStarted(
        run_id="r", conversation_id=conversation, question="What?", index="gone", pipeline="quantum", model="m", at=1
    )
    found = RetrievalDetail(query="What?", mode="vector", unit="chunk", passages=())
    retrieved = StepFinished(
        step="retrieve", attempt=1, start=0, milliseconds=1, model_calls=0, tokens_in=0, tokens_out=0, detail=found
    )
    for event in (started, retrieved):
        process_of(engine).history.save("r", event)
    process_of(engine).history.save(
        "r", RunFinished(status="finished", answer="A.", outcome="answered", citations=(), totals=Totals(seconds=1))
    )
    page = RunsPage()
    assert page.column("pipeline.label")[0] == "quantum"
    page = RunsPage(run="r")
    assert 'class="answer"' in page.html
    assert not [each for each in page.app.expander if page.words["change.fold"] in each.label]
    page.press("chat.again")
    assert page.app.error


# Also in changes/test_renamed_index.py::test_a_question_is_asked_again_of_the_renamed_index.
@pytest.mark.soak
def test_a_run_asked_again_is_seen_in_its_conversation(engine, ask):
    run_id = ask("Who approves the green car?")
    page = RunsPage(run=run_id)
    page.press("chat.again")
    conversation = engine.history.run(run_id).conversation_id
    assert page.app.session_state.conversation == conversation
    first, second = engine.history.runs(conversation)
    assert (second.question, second.pipeline, second.index) == (first.question, first.pipeline, first.index)


# Also in test_chat.py::test_an_answer_that_ends_while_the_page_is_drawn_is_shown.
@pytest.mark.soak
def test_a_run_that_ends_while_its_page_is_drawn_is_shown(engine, server, tmp_path, monkeypatch):
    """The run ends after the page has read its events, when its head is drawn."""
    add(engine, tmp_path, "travel.md")
    until = threading.Event()
    server.answer_when(lambda request: request.schema is None, Answer("A director approves it [1].", until=until))
    run = engine.ask("Who approves the green car?", index="handbook", pipeline_name="naive")

    def when_it_has_ended(*asked):
        until.set()
        run.result()
        return when(*asked)

    monkeypatch.setattr(one_run, "when", when_it_has_ended)
    assert 'class="answer"' in RunsPage(run=run.id).html


def test_a_playback_begins_with_nothing_done_and_ends_as_the_run_did(engine):
    (run_id,) = stored(engine, 1, seconds=600)
    page = RunsPage(run=run_id)
    page.press("playback.play")
    assert page.words["status.running"] in page.app.expander[0].label
    page.press("playback.end")
    assert page.words["status.running"] not in page.app.expander[0].label
    assert 'class="answer"' in page.html

"""The path of a run through its graph: real runs of all pipelines, and made-up events for other ends of a run."""

import json

import pytest

from index_store.base.errors import KeyRefused
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN
from rag.pipelines import PIPELINES
from rag.trace.derived.path import END, START, Edge, Path, path_of
from rag.trace.details import DraftDetail, GenerationDetail
from rag.trace.events import RunFinished, StepStarted, Totals
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import decisions, started_steps
from tests.rag.scripted import Gate, Held
from tests.rag.some_pipelines import some_of
from tests.rag.trace.steps import decision, finished
from tests.rag.verdicts import NO, YES, approve

REWRITE = "病気で休むときに必要な書類は何ですか"


def way(run) -> Path:
    return path_of(run.events, PIPELINES[run.events[0].pipeline].flow)


def edges(path: Path) -> list[tuple[str, str]]:
    return [tuple(each.edge) for each in path.crossings]


def started(step: str, attempt: int = 1) -> StepStarted:
    return StepStarted(step=step, attempt=attempt, start=0)


def ended(status: str) -> RunFinished:
    return RunFinished(status=status, answer="", outcome=None, citations=(), totals=Totals())


@pytest.fixture
def ask(open_engine, chat):
    """Graders say yes, nothing is small talk, and speculative answers are on."""
    approve(chat)
    chat.answer_when(JA.retrieval_need, answer=YES)
    chat.answer_when(JA.route, answer=json.dumps({"reason": "because", "route": "documents"}))
    chat.default = ANSWER

    def ask(pipeline: str, **options):
        run = open_engine(chat, draft_ahead=True, **options).ask(QUESTION, index=INDEX, pipeline_name=pipeline)
        run.result()
        return run

    return ask


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_tells_its_own_graph(name):
    flow, drawn = PIPELINES[name].flow, PIPELINES[name].compiled.get_graph()
    assert (flow.nodes[0], flow.nodes[-1]) == (START, END)
    assert set(flow.nodes) == set(drawn.nodes)
    assert {tuple(edge) for edge in flow.edges} == {(each.source, each.target) for each in drawn.edges}


@pytest.mark.parametrize("name", some_of())
def test_the_way_leads_from_the_start_to_the_end_along_edges_of_the_graph(ask, chat, name):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=YES)
    chat.answer_when(JA.usefulness, answer=NO, times=1)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    run = ask(name)
    path, flow = way(run), PIPELINES[name].flow
    assert [visit.step for visit in path.visits] == started_steps(run.events)
    assert [(each.edge.to, each.why) for each in path.crossings if each.why] == decisions(run.events)
    reached = {START}
    for move in path.moves:
        if move in path.crossings:
            assert move.edge in flow.edges
            assert move.edge.source in reached
            reached.add(move.edge.to)
        else:
            assert move.step in reached
    assert [each.edge.to for each in path.crossings].count(END) == 1
    assert reached - {START, END} == set(started_steps(run.events))
    assert path.current == []


@pytest.mark.parametrize("name", some_of())
def test_a_run_that_fails_does_not_reach_the_end(ask, chat, name):
    chat.answer_when("", answer=KeyRefused(host="h", model="m"))
    run = ask(name)
    assert run.result().status == "failed"
    path = way(run)
    assert END not in {each.edge.to for each in path.crossings}
    assert any(not visit.went_through for visit in path.visits)


def test_naive_goes_straight(ask):
    path = way(ask("naive"))
    assert edges(path) == [(START, "retrieve"), ("retrieve", "generate"), ("generate", END)]
    assert path.visit_counts == {"retrieve": 1, "generate": 1}
    assert path.reasons == {}


def test_a_loop_counts_its_visits_and_keeps_the_reason_of_every_branch(ask, chat):
    chat.answer_when(JA.usefulness, answer=NO, times=1)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    path = way(ask("self_rag", max_generations=2))
    assert path.visit_counts["check_answer"] == path.visit_counts["retrieve"] == 2
    assert path.visit_counts["rewrite_question"] == 1
    assert path.reasons == {
        Edge("grade_documents", "generate"): {"relevant_found": 2},
        Edge("check_answer", "rewrite_question"): {"not_useful": 1},
        Edge("rewrite_question", "retrieve"): {"reworded": 1},
        Edge("check_answer", END): {"confirmed": 1},
    }
    assert edges(path).count((START, "retrieve")) == 1


def test_a_speculative_answer_leads_to_the_answer_only_where_it_is_kept(ask, chat):
    assert ("draft_answer", "generate") in edges(way(ask("self_rag")))
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=YES)
    path = way(ask("self_rag"))
    assert path.visit_counts["draft_answer"] == 1
    assert ("retrieve", "draft_answer") in edges(path)
    assert ("draft_answer", "generate") not in edges(path)


def test_both_checks_lead_to_the_verdict(ask):
    path = way(ask("adaptive"))
    for check in ("check_grounding", "check_usefulness"):
        assert edges(path).count(("generate", check)) == edges(path).count((check, "check_answer")) == 1


def test_a_no_answer_leads_past_the_checks_and_an_answer_does_not(ask, chat):
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue(TOKEN, ANSWER)
    taken = edges(way(ask("self_rag")))
    assert [to for source, to in taken if source == "generate"] == [
        "rewrite_question",
        "check_grounding",
        "check_usefulness",
    ]


def test_while_a_run_goes_on_its_current_steps_are_known(open_engine, chat):
    approve(chat)
    gate = Gate()
    for check in (JA.grounding, JA.usefulness):
        chat.answer_when(check, answer=Held(gate, YES))
    run = open_engine(chat).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    gate.wait_for(2)
    assert {visit.step for visit in way(run).current} == {"check_grounding", "check_usefulness"}
    gate.open()
    run.result()
    assert way(run).current == []


def test_steps_that_are_not_of_the_graph_stand_before_it(open_engine, chat):
    engine = open_engine(chat, starts=True)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    run.result()
    path = way(run)
    assert [visit.step for visit in path.before] == ["start_model"]
    assert [visit.step for visit in path.visits] == ["retrieve", "generate"]
    follow_up = engine.ask(
        "それは誰が決めますか?", index=INDEX, pipeline_name="naive", conversation_id=run.conversation_id
    )
    follow_up.result()
    assert [visit.step for visit in way(follow_up).before] == ["standalone_question"]


@pytest.mark.parametrize("status", ["stopped", "failed", "limited"])
def test_a_run_that_was_cut_short_has_no_current_step_and_no_end(status):
    path = path_of([started("retrieve"), ended(status)], PIPELINES["naive"].flow)
    assert path.current == []
    assert edges(path) == [(START, "retrieve")]
    assert not path.visits[0].went_through


def test_from_a_step_that_failed_no_edge_is_taken():
    flow = PIPELINES["naive"].flow
    path = path_of([started("retrieve"), finished("retrieve", verdict="failed"), ended("finished")], flow)
    assert edges(path) == [(START, "retrieve")]


def test_an_end_without_its_start_and_a_step_of_another_version_are_told_too():
    flow = PIPELINES["naive"].flow
    path = path_of([finished("retrieve"), finished("look_twice"), started("generate")], flow)
    assert [visit.step for visit in path.visits] == ["retrieve", "generate"]
    assert [visit.step for visit in path.before] == ["look_twice"]
    assert edges(path) == [(START, "retrieve"), ("retrieve", "generate")]


def test_a_decision_stands_before_the_step_that_it_leads_to_begins():
    events = [started("grade_documents"), finished("grade_documents"), decision("grade_documents", "generate", "why")]
    path = path_of(events, PIPELINES["self_rag"].flow)
    assert path.crossings[-1] == (Edge("grade_documents", "generate"), "why")


def test_a_speculative_answer_that_was_given_up_has_no_way_on():
    draft = DraftDetail(passages=(1,), text="", kept=False)
    events = [started("draft_answer"), finished("draft_answer", detail=draft), started("generate")]
    assert edges(path_of(events, PIPELINES["self_rag"].flow)) == []


@pytest.mark.parametrize("is_used", [True, False])
def test_the_edge_of_a_speculative_answer_is_taken_only_if_the_answer_is_used(is_used):
    draft = DraftDetail(passages=(1,), text=ANSWER, kept=True)
    answer = GenerationDetail(passages=(1,), text=ANSWER, cited=(1,), drafted=is_used)
    begun = [started("draft_refined"), finished("draft_refined", detail=draft), started("generate")]
    flow = PIPELINES["corrective"].flow
    assert edges(path_of(begun, flow)) == []
    path = path_of([*begun, finished("generate", detail=answer)], flow)
    assert edges(path) == ([("draft_refined", "generate")] if is_used else [])
    assert [visit.step for visit in path.visits] == ["draft_refined", "generate"]


def test_a_speculative_no_answer_that_is_used_takes_its_edge_too(ask, chat):
    chat.default = TOKEN
    assert ("draft_answer", "generate") in edges(way(ask("self_rag")))

"""Forks: every useful change of a step, in each pipeline, and which steps a fork does not repeat."""

from collections.abc import Sequence

import pytest

from index_store.base.errors import ServiceBusy
from index_store.store.index_store import IndexStore
from rag.models.service.ja import JA
from rag.pipelines import PIPELINES
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import (
    EDITS,
    ChangeRetrieval,
    Edit,
    EditPrompt,
    EditQuery,
    LeaveOut,
    TakeChunk,
    TakeIn,
    TurnOver,
)
from rag.runs.run.run import Run
from rag.settings import Settings
from rag.text.places import place
from rag.trace.calls import Message
from rag.trace.events import Change, Origin, StepFinished
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import let_time_pass
from tests.helpers.local import local_engine
from tests.helpers.waiting import eventually
from tests.rag.documents import ALLOWANCE, CLIENT, INDEX, QUESTION
from tests.rag.reading import decisions, finished, started_steps
from tests.rag.scripted import Gate, Held, ScriptedSource
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import NO, PROSE, YES, approve, grounding, rating, verdict
from tests.servers import TavilyServer

ANSWER = "一日につき二千五百円です[1]。"
OTHER = "別の答えです[2]。"
QUERY = "病気で休むときに必要な書類は何ですか"
SICK = "A doctor's note is needed"


@pytest.fixture
def speaking(chat):
    """A model whose graders say yes, and which answers every question with ANSWER."""
    approve(chat)
    chat.default = ANSWER
    return chat


def ask(engine: UserEngine, pipeline: str, **how: object) -> Run:
    run = engine.ask(QUESTION, index=INDEX, pipeline_name=pipeline, **how)
    assert run.result().status == "finished"
    return run


class Forked:
    """A fork that is over, with its new prompts."""

    def __init__(self, engine: UserEngine, chat, origin: Run, step: str, *edits: Edit, attempt: int = 1) -> None:
        before = len(chat.prompts)
        self.run = engine.forks.begin(origin.id, step, attempt, edits)
        self.result = self.run.result()
        assert self.result.error is None
        self.prompts = chat.prompts[before:]
        self.events = self.run.events

    def asked(self, instructions: str) -> list[str]:
        return [prompt for prompt in self.prompts if instructions in prompt]

    @property
    def new(self) -> list[str]:
        """The steps that the fork ran itself."""
        return [each.step for each in self.events if isinstance(each, StepFinished) and not each.reused]


def passages(run: Run) -> dict[int, str]:
    """Texts of the first search, by number."""
    return {each.number: each.text for each in finished(run.events, "retrieve")[0].detail.passages}


def sources(prompts: Sequence[str]) -> int:
    return sum(prompt.count("<passage number=") for prompt in prompts)


# What a fork is


def test_a_fork_is_a_run_of_its_own_that_names_its_origin_and_what_was_changed(engine, speaking):
    origin = ask(engine, "naive")
    forked = Forked(engine, speaking, origin, "retrieve", LeaveOut(passage=2))
    started = forked.events[0]
    left_out = finished(origin.events, "retrieve")[0].detail.passages[1]
    assert started.origin == Origin(
        kind="fork",
        run_id=origin.id,
        step="retrieve",
        attempt=1,
        changes=(Change(what="left_out", before=place(left_out), after="", passage=2),),
    )
    assert forked.run.id != origin.id
    assert (started.question, started.index, started.pipeline) == (QUESTION, INDEX, "naive")
    assert engine.history.events(forked.run.id)[0] == started
    assert engine.history.run(forked.run.id).status == "finished"


def test_a_fork_leaves_its_origin_and_the_conversation_as_they_were(engine, speaking):
    origin = ask(engine, "naive")
    stored, conversations = engine.history.events(origin.id), engine.history.conversations.listed()
    Forked(engine, speaking, origin, "retrieve", LeaveOut(passage=2))
    assert engine.history.events(origin.id) == stored
    assert engine.history.conversations.listed() == conversations
    assert [each.id for each in engine.history.runs(origin.conversation_id)] == [origin.id]


def test_its_totals_count_what_is_new_and_tell_what_is_reused(engine, speaking):
    origin = ask(engine, "self_rag")
    forked = Forked(engine, speaking, origin, "check_usefulness", TurnOver())
    was, totals = origin.result().totals, forked.result.totals
    assert totals.reused_calls == was.model_calls == 7
    assert totals.model_calls == len(forked.prompts) > 0
    new = [each for each in forked.events if isinstance(each, StepFinished) and not each.reused]
    assert totals.tokens == sum(each.tokens_in + each.tokens_out for each in new)
    assert 0 < totals.reused_seconds <= was.seconds
    assert all(each.start >= totals.reused_seconds for each in new)


def test_its_trace_begins_with_that_of_its_origin(engine, speaking):
    origin = ask(engine, "self_rag")
    forked = Forked(engine, speaking, origin, "generate", LeaveOut(passage=2))
    assert started_steps(forked.events) == started_steps(origin.events)
    assert decisions(forked.events)[0] == decisions(origin.events)[0]
    assert forked.new == ["generate", "check_grounding", "check_usefulness", "check_answer"] or forked.new == [
        "generate", "check_usefulness", "check_grounding", "check_answer"]  # fmt: skip
    stored = engine.history.events(forked.run.id)
    assert [each.kind for each in stored] == [each.kind for each in forked.events if each.kind != "token"]


def test_what_the_model_was_asked_before_can_be_read_in_the_fork_as_well(engine, speaking):
    origin = ask(engine, "self_rag")
    forked = Forked(engine, speaking, origin, "generate", LeaveOut(passage=2))
    for step in ("grade_documents", "generate"):
        assert engine.history.calls.of_step(forked.run.id, step, 1)
    assert engine.history.calls.of_step(forked.run.id, "grade_documents", 1) == engine.history.calls.of_step(
        origin.id, "grade_documents", 1
    )


def test_a_fork_can_be_forked_at_the_same_step_before_it_and_behind_it(engine, speaking):
    speaking.answer_when(JA.relevance, ALLOWANCE, answer=NO)
    origin = ask(engine, "self_rag")
    first = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=1))
    again = Forked(engine, speaking, first.run, "grade_documents", TurnOver(passage=2))
    grades = {each.passage.number: each.grade for each in finished(again.events, "grade_documents")[0].detail.grades}
    assert [(grades[number].verdict, grades[number].by_hand) for number in (1, 2, 3)] == [
        ("yes", True), ("no", True), ("yes", False)]  # fmt: skip
    assert len(again.asked(JA.relevance)) == 0
    before = Forked(engine, speaking, again.run, "retrieve", LeaveOut(passage=3))
    assert len(before.asked(JA.relevance)) == 3
    behind = Forked(engine, speaking, again.run, "check_grounding", TurnOver())
    assert behind.events[0].origin.run_id == again.run.id
    assert len(behind.asked(JA.relevance)) == 0


def test_a_fork_outlives_a_restart(loaded, embeddings, speaking):
    settings = Settings(data_dir=loaded, web_search="off", draft_ahead=False)

    def opened() -> UserEngine:
        return local_engine(settings, store=IndexStore(settings, embeddings), source=ScriptedSource(speaking))

    with opened() as engine:
        origin = ask(engine, "self_rag")
        first = Forked(engine, speaking, origin, "check_grounding", TurnOver())
    with opened() as engine:
        for run in (origin, first.run):
            assert Forked(engine, speaking, run, "generate", LeaveOut(passage=1)).result.status == "finished"


# Forks of forks at the same step: they continue from what the first fork made of it


def test_a_fork_of_a_fork_that_changes_how_to_search_still_searches_for_the_edited_query(engine, speaking):
    first = Forked(engine, speaking, ask(engine, "naive"), "retrieve", EditQuery(query=QUERY))
    again = Forked(engine, speaking, first.run, "retrieve", ChangeRetrieval(retrieval=Retrieval(k=2)))
    [search] = finished(again.events, "retrieve")
    assert (search.detail.query, len(search.detail.passages)) == (QUERY, 2)
    assert again.events[0].origin.changes == (Change(what="k", before="4", after="2"),)
    third = Forked(engine, speaking, again.run, "retrieve", EditQuery(query=QUESTION))
    assert (finished(third.events, "retrieve")[0].detail.query, third.events[0].retrieval.k) == (QUESTION, 2)
    assert third.events[0].origin.changes == (Change(what="query", before=QUERY, after=QUESTION),)


@pytest.mark.soak
def test_a_fork_of_a_fork_leaves_out_another_passage_too_or_takes_the_first_one_back(engine, speaking):
    origin = ask(engine, "naive")
    given = finished(origin.events, "generate")[0].detail.passages
    first = Forked(engine, speaking, origin, "generate", LeaveOut(passage=2))
    without_two = Forked(engine, speaking, first.run, "generate", LeaveOut(passage=3))
    assert finished(without_two.events, "generate")[0].detail.passages == tuple(
        each for each in given if each not in (2, 3)
    )
    assert [each.passage for each in without_two.events[0].origin.changes] == [3]
    back = Forked(engine, speaking, without_two.run, "generate", TakeIn(passage=2))
    assert set(finished(back.events, "generate")[0].detail.passages) == set(given) - {3}
    assert [(each.what, each.passage) for each in back.events[0].origin.changes] == [("taken_in", 2)]


@pytest.mark.soak
def test_a_fork_of_a_fork_that_edits_the_prompt_keeps_the_passages_of_the_first(engine, speaking):
    first = Forked(engine, speaking, ask(engine, "naive"), "generate", LeaveOut(passage=2))
    again = Forked(engine, speaking, first.run, "generate", _brief(engine, first.run))
    assert 2 not in finished(again.events, "generate")[0].detail.passages
    assert "Be brief." in again.prompts[0]


def test_a_fork_of_a_fork_with_other_passages_says_that_the_edited_prompt_is_not_used(engine, speaking):
    origin = ask(engine, "naive")
    first = Forked(engine, speaking, origin, "generate", _brief(engine, origin))
    passed_on = Forked(engine, speaking, first.run, "generate", _brief(engine, first.run))
    again = Forked(engine, speaking, passed_on.run, "generate", LeaveOut(passage=3))
    assert "Be brief." not in again.prompts[0]
    assert [each.what for each in again.events[0].origin.changes] == ["left_out", "prompt_anew"]
    third = Forked(engine, speaking, again.run, "generate", LeaveOut(passage=2))
    assert [each.what for each in third.events[0].origin.changes] == ["left_out"]


def _brief(engine: UserEngine, run: Run) -> EditPrompt:
    [call] = engine.history.calls.of_step(run.id, "generate", 1)
    briefly = (each.model_copy(update={"text": f"{each.text} Be brief."}) for each in call.messages)
    return EditPrompt(messages=tuple(briefly))


@pytest.mark.parametrize("pipeline", ["self_rag", pytest.param("adaptive", marks=pytest.mark.soak)])
def test_where_all_passages_are_left_out_it_is_not_said_that_the_model_found_no_answer(engine, speaking, pipeline):
    origin = ask(engine, pipeline)
    [written] = finished(origin.events, "generate")
    forked = Forked(engine, speaking, origin, "generate", *(LeaveOut(passage=each) for each in written.detail.passages))
    assert finished(forked.events, "generate")[0].model_calls == 0
    reasons = [why for _, why in decisions(forked.events)]
    assert "nothing_relevant" in reasons
    assert "says_no" not in reasons


# Retrieval, in every pipeline


@pytest.mark.parametrize("pipeline", some_of(now=("hybrid", "self_rag_candidates")))
def test_a_search_is_made_anew_with_another_query_and_nothing_before_it_is_asked_again(engine, speaking, pipeline):
    origin = ask(engine, pipeline)
    before = _steps_before(origin, "retrieve")
    forked = Forked(engine, speaking, origin, "retrieve", EditQuery(query=QUERY))
    [search] = finished(forked.events, "retrieve")
    assert (search.detail.query, search.detail.words, search.reused) == (QUERY, None, False)
    assert any(SICK in each.text for each in search.detail.passages)
    assert not set(before) & set(forked.new)
    assert not [each for each in forked.prompts if JA.keywords in each or JA.retrieval_need in each]
    assert forked.events[0].origin.changes == (Change(what="query", before=QUESTION, after=QUERY),)
    assert any(SICK in prompt for prompt in forked.prompts)


@pytest.mark.parametrize("pipeline", some_of(now=("self_rag_candidates",)))
def test_a_search_is_made_anew_in_another_way_and_the_run_keeps_to_it(engine, speaking, pipeline):
    origin = ask(engine, pipeline)
    another = Retrieval(mode="keyword", unit="section", k=2)
    forked = Forked(engine, speaking, origin, "retrieve", ChangeRetrieval(retrieval=another))
    [search] = finished(forked.events, "retrieve")
    assert (search.detail.mode, search.detail.unit, len(search.detail.passages) <= 2) == ("keyword", "section", True)
    assert forked.events[0].retrieval == another
    told = {each.what: (each.before, each.after) for each in forked.events[0].origin.changes}
    has = PIPELINES[pipeline].retrieval
    assert told["mode"] == (has.mode, "keyword")
    assert told["k"] == (str(has.k), "2")


@pytest.mark.parametrize("pipeline", some_of(now=("self_rag_candidates",)))
def test_a_passage_that_is_left_out_of_what_was_found_is_in_no_prompt(engine, speaking, pipeline):
    origin = ask(engine, pipeline)
    [gone] = [number for number, text in passages(origin).items() if ALLOWANCE in text]
    forked = Forked(engine, speaking, origin, "retrieve", LeaveOut(passage=gone))
    [search] = finished(forked.events, "retrieve")
    assert search.reused
    assert gone not in [each.number for each in search.detail.passages]
    assert forked.prompts
    assert not [prompt for prompt in forked.prompts if ALLOWANCE in prompt]


@pytest.mark.parametrize("pipeline", some_of(now=("naive", "multivector")))
def test_any_chunk_of_the_index_can_be_taken_in(engine, speaking, pipeline):
    origin = ask(engine, pipeline, retrieval=Retrieval(mode="vector", unit=PIPELINES[pipeline].retrieval.unit, k=1))
    [hit] = engine.store.search(INDEX, "VPN client", k=1)
    taken = TakeChunk(document_id=hit.document_id, chunk_id=hit.chunk_id)
    forked = Forked(engine, speaking, origin, "retrieve", taken)
    found = finished(forked.events, "retrieve")[0].detail.passages
    assert [each.number for each in found] == [1, 2]
    assert CLIENT in found[1].text
    assert any(CLIENT in prompt for prompt in forked.prompts)


@pytest.mark.parametrize("unit", [pytest.param("chunk", marks=pytest.mark.soak), "section"])
def test_a_chunk_that_was_taken_in_has_the_place_that_a_search_would_give_it(engine, speaking, tmp_path, unit):
    rules = "".join(f"### Rule {n}\n\nThe kettle {n} whistles. {'Water boils in it. ' * 8}\n\n" for n in range(12))
    (tmp_path / "kitchen.md").write_text(f"# Kitchen\n\n## Kettles\n\n{rules}", encoding="utf-8")
    engine.store.add(INDEX, tmp_path / "kitchen.md")
    origin = ask(engine, "naive", retrieval=Retrieval(unit=unit, k=1))
    [hit] = engine.store.search(INDEX, "kettle 7 whistles", mode="keyword", unit=unit, k=1)
    taken = TakeChunk(document_id=hit.document_id, chunk_id=hit.chunk_id)
    forked = Forked(engine, speaking, origin, "retrieve", taken)
    passage = finished(forked.events, "retrieve")[0].detail.passages[1]
    assert (passage.headings, passage.page) == (hit.headings, hit.page)


@pytest.mark.soak
def test_a_passage_that_was_taken_in_from_a_table_has_the_header_of_its_columns(engine, speaking, tmp_path):
    rows = "".join(f"| Kettle {n} | {n}00 yen | whistles |\n" for n in range(20, 50))
    table = f"| Kettle | Price | Note |\n|---|---|---|\n{rows}"
    (tmp_path / "kitchen.md").write_text(f"# Kitchen\n\n## Kettles\n\n{table}", encoding="utf-8")
    engine.store.add(INDEX, tmp_path / "kitchen.md")
    origin = ask(engine, "naive", retrieval=Retrieval(k=1))
    [hit] = engine.store.search(INDEX, "Kettle 47", mode="keyword", k=1)
    taken = TakeChunk(document_id=hit.document_id, chunk_id=hit.chunk_id)
    forked = Forked(engine, speaking, origin, "retrieve", taken)
    passage = finished(forked.events, "retrieve")[0].detail.passages[1]
    assert "Price" in passage.header
    assert (passage.header, passage.text) == (hit.header, hit.text)


def test_a_passage_that_was_taken_in_is_cited(engine, speaking):
    origin = ask(engine, "naive", retrieval=Retrieval(k=1))
    [hit] = engine.store.search(INDEX, "VPN client", k=1)
    speaking.default = "HazeGate [2]."
    taken = TakeChunk(document_id=hit.document_id, chunk_id=hit.chunk_id)
    forked = Forked(engine, speaking, origin, "retrieve", taken)
    assert [(each.number, CLIENT in each.text) for each in forked.result.citations] == [(2, True)]


def test_words_of_the_keyword_search_stay_where_only_the_way_of_searching_changes(engine, speaking):
    speaking.answer_when(JA.keywords, answer='{"keywords": ["日当"]}')
    origin = ask(engine, "hybrid")
    changed = ChangeRetrieval(retrieval=Retrieval(mode="keyword", k=3))
    forked = Forked(engine, speaking, origin, "retrieve", changed)
    assert finished(forked.events, "retrieve")[0].detail.words == ("日当",)
    assert not forked.asked(JA.keywords)


# Grades


GRADING = some_of(("self_rag", "corrective", "adaptive"), now=("self_rag",))


@pytest.mark.parametrize("draft_ahead", [pytest.param(False, marks=pytest.mark.soak), True])
@pytest.mark.parametrize("pipeline", GRADING)
def test_a_grade_that_is_turned_to_no_takes_its_passage_from_the_answer(open_engine, speaking, pipeline, draft_ahead):
    engine = open_engine(speaking, draft_ahead=draft_ahead)
    origin = ask(engine, pipeline)
    [number] = [number for number, text in passages(origin).items() if ALLOWANCE in text]
    speaking.default = OTHER
    forked = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=number))
    assert not forked.asked(JA.relevance)
    assert "retrieve" not in forked.new
    [prompt] = forked.asked(JA.answer)
    assert ALLOWANCE not in prompt
    assert forked.result.answer == OTHER
    assert forked.events[0].origin.changes == (Change(what="grade", before="yes", after="no", passage=number),)
    assert [each.detail.kept for each in finished(forked.events, "draft_answer")] == [False] * (
        draft_ahead and pipeline != "corrective"
    )


@pytest.mark.parametrize("pipeline", GRADING)
def test_a_run_whose_time_was_up_while_its_answer_was_drafted_can_be_forked_at_its_grades(
    open_engine, speaking, pipeline
):
    gate = Gate()
    speaking.answer_when(JA.answer, answer=Held(gate, OTHER))
    engine = open_engine(speaking, draft_ahead=True, run_time_limit=200)
    origin = engine.ask(QUESTION, index=INDEX, pipeline_name=pipeline)
    assert eventually(lambda: finished(origin.events, "grade_documents") and gate.waiting)
    let_time_pass(engine, 200)
    assert origin.result().status == "limited"
    gate.open()
    let_time_pass(engine, 0)
    forked = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=2))
    assert forked.result.status == "finished"


@pytest.mark.parametrize("pipeline", GRADING)
def test_a_grade_that_is_turned_to_yes_brings_its_passage_to_the_answer(engine, speaking, pipeline):
    speaking.answer_when(JA.relevance, ALLOWANCE, answer=NO)
    origin = ask(engine, pipeline)
    [number] = [number for number, text in passages(origin).items() if ALLOWANCE in text]
    forked = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=number))
    assert not forked.asked(JA.relevance)
    assert ALLOWANCE in forked.asked(JA.answer)[0]


def test_a_grade_turned_over_sends_the_run_another_way(engine, speaking):
    speaking.answer_when(JA.relevance, answer=NO)
    speaking.answer_when(JA.rewrite, answer=QUERY)
    origin = ask(engine, "self_rag")
    assert origin.result().outcome == "not_in_documents"
    forked = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=1))
    assert decisions(forked.events)[0] == ("generate", "relevant_found")
    assert forked.result.outcome == "confirmed"
    assert not forked.asked(JA.rewrite)


@pytest.mark.soak
def test_all_grades_turned_to_no_send_it_to_the_rewrite(engine, speaking):
    speaking.answer_when(JA.rewrite, answer=QUERY)
    origin = ask(engine, "self_rag")
    turned = [TurnOver(passage=number) for number in passages(origin)]
    forked = Forked(engine, speaking, origin, "grade_documents", *turned)
    assert decisions(forked.events)[:2] == [("rewrite_question", "nothing_relevant"), ("retrieve", "reworded")]
    assert len(forked.asked(JA.rewrite)) == 1


@pytest.mark.soak  # also in test_the_second_answer_is_still_told_which_one_was_rejected
def test_the_second_attempt_of_a_step_can_be_changed(engine, speaking):
    speaking.answer_when(JA.relevance, answer=NO)
    speaking.answer_when(JA.rewrite, answer=QUERY)
    origin = ask(engine, "self_rag")
    [_, second, *_] = finished(origin.events, "grade_documents")
    number = next(each.passage.number for each in second.detail.grades if SICK in each.passage.text)
    forked = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=number), attempt=2)
    assert [each.attempt for each in finished(forked.events, "grade_documents")] == [1, 2]
    assert [each.attempt for each in finished(forked.events, "generate")] == [1]
    assert SICK in forked.asked(JA.answer)[0]
    assert forked.asked(JA.answer)[0].count("<passage number=") == 1


def test_corrective_assesses_anew_by_the_grade_that_was_turned_over(engine, speaking):
    speaking.answer_when(JA.relevance, answer=NO)
    origin = ask(engine, "corrective")
    assert finished(origin.events, "assess")[0].detail.action == "incorrect"
    forked = Forked(engine, speaking, origin, "grade_documents", TurnOver(passage=1))
    assert finished(forked.events, "assess")[0].detail.action == "correct"
    assert forked.result.outcome == "answered"


@pytest.mark.parametrize("pipeline", some_of(("self_rag", "adaptive"), now=("self_rag",)))
@pytest.mark.parametrize(("step", "key"), [("check_grounding", "grounding"), ("check_usefulness", "usefulness")])
def test_a_verdict_on_the_answer_is_turned_over_and_the_one_beside_it_stays(engine, speaking, pipeline, step, key):
    origin = ask(engine, pipeline)
    forked = Forked(engine, speaking, origin, step, TurnOver())
    [check, *_] = finished(forked.events, "check_answer")
    assert check.verdict == "no"
    beside = {"check_grounding": "check_usefulness", "check_usefulness": "check_grounding"}[step]
    assert [each.reused for each in finished(forked.events, step)][:1] == [True]
    assert finished(forked.events, beside)[0].model_copy(update={"reused": False}) == finished(origin.events, beside)[0]
    assert decisions(origin.events)[-1] not in decisions(forked.events)[: len(decisions(origin.events))]
    assert forked.events[0].origin.changes == (Change(what=key, before="yes", after="no"),)


@pytest.mark.parametrize("pipeline", some_of(("self_rag", "adaptive"), now=("self_rag",)))
@pytest.mark.parametrize("reply", [pytest.param(grounding("no"), marks=pytest.mark.soak), grounding("partly", ANSWER)])
def test_an_answer_that_was_called_not_grounded_is_confirmed_when_that_is_turned_over(
    engine, speaking, pipeline, reply
):
    speaking.answer_when(JA.grounding, answer=reply)
    origin = ask(engine, pipeline)
    assert origin.result().outcome != "confirmed"
    forked = Forked(engine, speaking, origin, "check_grounding", TurnOver())
    assert (forked.result.outcome, forked.result.answer) == ("confirmed", ANSWER)
    assert forked.prompts == []
    assert forked.new == ["check_answer"]
    assert forked.result.citations


def test_an_answer_that_was_called_not_useful_is_confirmed_when_that_is_turned_over(engine, speaking):
    speaking.answer_when(JA.usefulness, answer=rating(1))
    speaking.answer_when(JA.rewrite, answer=QUERY)
    origin = ask(engine, "self_rag")
    forked = Forked(engine, speaking, origin, "check_usefulness", TurnOver())
    assert (forked.result.outcome, forked.prompts) == ("confirmed", [])


@pytest.mark.parametrize(
    ("said", "turned"),
    [(verdict("no", 0.05), "retrieve"), pytest.param(YES, "answer_from_memory", marks=pytest.mark.soak)],
)
def test_whether_documents_are_needed_is_turned_over(engine, speaking, said, turned):
    speaking.answer_when(JA.retrieval_need, answer=said)
    origin = ask(engine, "self_rag_candidates")
    forked = Forked(engine, speaking, origin, "decide_retrieval", TurnOver())
    assert forked.new[0] == turned
    assert not forked.asked(JA.retrieval_need)


# Rewrites and the web


@pytest.mark.soak
def test_another_rewrite_is_searched_for_instead_of_the_models(engine, speaking):
    speaking.answer_when(JA.relevance, answer=NO)
    speaking.answer_when(JA.relevance, SICK, answer=YES)
    speaking.answer_when(JA.rewrite, answer="宿泊費の上限はいくらですか")
    origin = ask(engine, "self_rag")
    forked = Forked(engine, speaking, origin, "rewrite_question", EditQuery(query=QUERY))
    rewrite = finished(forked.events, "rewrite_question")[0]
    assert (rewrite.detail.before, rewrite.detail.after, rewrite.reused) == (QUESTION, QUERY, True)
    assert [each.detail.query for each in finished(forked.events, "retrieve")] == [QUESTION, QUERY]
    assert not forked.asked(JA.rewrite)
    assert forked.result.outcome == "confirmed"


@pytest.mark.soak
def test_a_query_in_place_of_a_rewrite_that_failed_no_longer_has_its_error(engine, speaking):
    speaking.answer_when(JA.relevance, answer=NO)
    speaking.answer_when(JA.rewrite, answer=ServiceBusy(host="h"))
    origin = ask(engine, "self_rag")
    assert finished(origin.events, "rewrite_question")[0].fallback.code == "service_busy"
    forked = Forked(engine, speaking, origin, "rewrite_question", EditQuery(query=QUERY))
    rewritten = finished(forked.events, "rewrite_question")[0]
    assert (rewritten.detail.after, rewritten.fallback) == (QUERY, None)


@pytest.mark.parametrize("step", ["rewrite_for_web", pytest.param("web_search", marks=pytest.mark.soak)])
def test_another_query_goes_to_the_web(open_engine, speaking, tavily: TavilyServer, step):
    speaking.answer_when(JA.relevance, answer=NO)
    engine = open_engine(speaking, tavily=tavily)
    origin = ask(engine, "corrective")
    asked = len(tavily.queries)
    forked = Forked(engine, speaking, origin, step, EditQuery(query=QUERY))
    assert tavily.queries[asked:] == [QUERY]
    assert finished(forked.events, "web_search")[0].detail.query == QUERY
    assert not forked.asked(JA.relevance)


# The answer


WITH_GENERATE = some_of(("naive", "multivector", "hybrid", "self_rag", "adaptive", "corrective"), now=("adaptive",))


@pytest.mark.parametrize("pipeline", WITH_GENERATE)
def test_a_passage_is_left_out_of_the_answer_and_of_its_checks(engine, speaking, pipeline):
    origin = ask(engine, pipeline)
    given = finished(origin.events, "generate")[0].detail.passages
    [gone] = [number for number, text in passages(origin).items() if ALLOWANCE in text]
    forked = Forked(engine, speaking, origin, "generate", LeaveOut(passage=gone))
    assert finished(forked.events, "generate")[0].detail.passages == tuple(each for each in given if each != gone)
    assert not [prompt for prompt in forked.prompts if ALLOWANCE in prompt]
    assert not forked.asked(JA.relevance)
    assert "retrieve" not in forked.new


def test_a_passage_that_was_graded_away_is_taken_in_for_the_answer_and_its_checks(engine, speaking):
    speaking.answer_when(JA.relevance, ALLOWANCE, answer=NO)
    origin = ask(engine, "self_rag")
    [number] = [number for number, text in passages(origin).items() if ALLOWANCE in text]
    forked = Forked(engine, speaking, origin, "generate", TakeIn(passage=number))
    assert number in finished(forked.events, "generate")[0].detail.passages
    for instructions in (JA.answer, JA.grounding):
        prompts = forked.asked(instructions)
        assert prompts
        assert [prompt for prompt in prompts if ALLOWANCE not in prompt] == []
    assert [each.number for each in forked.result.citations] == [1]


def test_without_any_passage_left_there_is_no_answer(engine, speaking):
    origin = ask(engine, "naive")
    forked = Forked(engine, speaking, origin, "generate", *(LeaveOut(passage=number) for number in passages(origin)))
    assert (forked.result.outcome, forked.prompts) == ("not_in_documents", [])


@pytest.mark.soak
@pytest.mark.parametrize("pipeline", ["self_rag", "adaptive"])
def test_without_any_passage_left_a_pipeline_with_checks_goes_on_as_after_no_answer(engine, speaking, pipeline):
    origin = ask(engine, pipeline)
    left_out = (LeaveOut(passage=number) for number in passages(origin))
    assert Forked(engine, speaking, origin, "generate", *left_out).result.status == "finished"


@pytest.mark.soak
def test_a_passage_without_a_readable_grade_can_be_left_out_of_an_answer_that_is_searched_anew(engine, speaking):
    speaking.answer_when(JA.relevance, answer=PROSE)
    speaking.answer_when(JA.relevance, ALLOWANCE, answer=YES)
    origin = ask(engine, "self_rag")
    left_out = (LeaveOut(passage=number) for number in passages(origin))
    forked = Forked(engine, speaking, origin, "generate", *left_out)
    assert finished(forked.events, "rewrite_question")[0].detail.reason == ""


@pytest.mark.parametrize("draft_ahead", [pytest.param(False, marks=pytest.mark.soak), True])
@pytest.mark.parametrize("pipeline", WITH_GENERATE)
def test_the_answers_prompt_is_asked_as_it_was_edited_and_only_once(open_engine, speaking, pipeline, draft_ahead):
    engine = open_engine(speaking, draft_ahead=draft_ahead)
    origin = ask(engine, pipeline)
    messages = (Message(role="system", text="You rhyme."), Message(role="user", text="2,500円で一句。"))
    speaking.answer_when("2,500円で一句。", answer=OTHER)
    forked = Forked(engine, speaking, origin, "generate", EditPrompt(messages=messages))
    assert speaking.messages[-len(forked.prompts)] == [("system", "You rhyme."), ("human", "2,500円で一句。")]
    assert len(forked.asked("You rhyme.")) == 1
    assert forked.result.answer == OTHER
    assert [each.number for each in forked.result.citations] == [2]
    [call] = engine.history.calls.of_step(forked.run.id, "generate", 1)
    assert call.messages == messages


def test_a_sentence_that_the_edited_prompt_asks_for_is_in_the_answer(engine, speaking):
    closing = "ご不明な点は総務部人事課(内線1234)までお問い合わせください。"
    speaking.answer_when("最後に必ず", answer=f"日当は2,500円です。{closing}")
    messages = (
        Message(role="system", text=f"最後に必ず「{closing}」と書いてください。"),
        Message(role="user", text="日当は?"),
    )
    forked = Forked(engine, speaking, ask(engine, "naive"), "generate", EditPrompt(messages=messages))
    assert forked.result.answer.endswith(closing)


@pytest.mark.parametrize(("pipeline", "step", "question"), [
    ("adaptive", "small_talk", "こんにちは"),
    ("self_rag_candidates", "answer_from_memory", "1+1は?"),
])  # fmt: skip
def test_the_prompt_of_an_answer_without_passages_can_be_edited(engine, speaking, pipeline, step, question):
    speaking.answer_when(JA.retrieval_need, answer=verdict("no", 0.05))
    origin = engine.ask(question, index=INDEX, pipeline_name=pipeline)
    origin.result()
    forked = Forked(engine, speaking, origin, step, EditPrompt(messages=(Message(role="user", text="やあ。"),)))
    assert forked.prompts == ["やあ。"]
    assert forked.new == [step]


def test_the_second_answer_is_still_told_which_one_was_rejected(engine, speaking):
    speaking.answer_when(JA.grounding, answer=grounding("no", ANSWER))
    origin = ask(engine, "self_rag")
    assert len(finished(origin.events, "generate")) == 3
    forked = Forked(engine, speaking, origin, "generate", LeaveOut(passage=2), attempt=2)
    assert ANSWER in forked.asked(JA.answer)[0]
    assert [each.reused for each in finished(forked.events, "generate")] == [True, False, False]


def test_every_step_that_can_be_changed_is_one_of_a_pipeline():
    assert EDITS.keys() <= {node for each in PIPELINES.values() for node in each.graph.nodes}


def _steps_before(run: Run, step: str) -> list[str]:
    steps = started_steps(run.events)
    return steps[: steps.index(step)]


# Also in test_a_grade_that_is_turned_to_no_takes_its_passage_from_the_answer, with a scripted model.
@pytest.mark.soak
@pytest.mark.embedded
def test_the_embedded_model_answers_otherwise_once_what_it_read_counts_as_not_relevant(embedded_engine, embedded_run):
    origin = embedded_run
    assert "HazeGate" in origin.result().answer
    graded = finished(origin.events, "grade_documents")[0].detail.grades
    turned = [TurnOver(passage=each.passage.number) for each in graded if each.grade.verdict == "yes"]
    fork = embedded_engine.forks.begin(origin.id, "grade_documents", 1, turned)
    result = fork.result()
    assert result.status == "finished", result.error
    assert "HazeGate" not in result.answer
    assert result.totals.reused_calls == finished(origin.events, "grade_documents")[0].model_calls

"""The list of all stored runs, and why a run was not good: the cause in its trace, or the one that a person set."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import event

from index_store.access.principal import LOCAL, Principal, Role
from index_store.base.errors import EmptyIndex, IndexNotReady
from rag.runs.history.conversations.comparison import StoredComparisons
from rag.runs.history.for_people.run_list import ORDERS, RunFilter, RunList
from rag.runs.history.history import History
from rag.trace.details import AnswerCheckDetail, DeclineDetail
from rag.trace.events import RunFinished, RunStarted, StepFinished, Totals
from rag.trace.grades import Grounding, Usefulness
from tests.helpers.by_hand import run_script

ME, OTHER = (Principal(name, "", "", Role.READER) for name in ("me", "other"))
ADMIN = Principal("admin", "", "", Role.ADMIN)


@pytest.fixture
def history(data_dir, database) -> Iterator[History]:
    history = History(data_dir, database)
    yield history
    history.close()


@pytest.fixture
def runs(history) -> RunList:
    return RunList(history.database)


@pytest.fixture
def save(history):
    """Each run begins one second after the one before."""
    conversations = {each.id: history.conversations.new("?", principal=each).id for each in (LOCAL, ME, ADMIN, OTHER)}
    saved = []

    def save(
        run_id: str, *, question="?", pipeline="naive", index="i", ends=True, steps=(), seconds=1.0, whose=LOCAL, **last
    ):
        started = RunStarted(
            run_id=run_id, conversation_id=conversations[whose.id], question=question, index=index,
            pipeline=pipeline, model="m", at=1000.0 + len(saved),
        )  # fmt: skip
        saved.append(run_id)
        values = {"status": "finished", "answer": "a", "outcome": "answered", "citations": ()} | last
        ended = [RunFinished(totals=Totals(seconds=seconds, model_calls=2, tokens_in=5, tokens_out=3), **values)]
        for each in [started, *steps, *(ended if ends else [])]:
            history.save(run_id, each)

    return save


EVERY_RUN = RunFilter()


def ids(runs: RunList, filters=EVERY_RUN, order="latest", first=0, count=10, principal=LOCAL) -> list[str]:
    found = [run.id for run in runs.page(filters, order, first=first, count=count, principal=principal)]
    assert first or len(found) == min(count, runs.count(filters, principal=principal))
    return found


def step(detail, verdict=None) -> StepFinished:
    return StepFinished(
        step="s", attempt=1, start=0, milliseconds=1, model_calls=0, tokens_in=0, tokens_out=0, verdict=verdict,
        detail=detail,
    )  # fmt: skip


DECLINED = step(DeclineDetail(text="No.", queries=("?",), nearest=()))
REJECTED = step(AnswerCheckDetail(grounding=Grounding(verdict="no", score=0.1), usefulness=Usefulness.unknown()), "no")


def test_a_run_has_in_its_row_what_it_came_to(runs, save):
    save("r", seconds=2.5)
    [run] = runs.page(RunFilter(), "latest", first=0, count=1, principal=LOCAL)
    assert (run.seconds, run.tokens, run.model_calls, run.outcome, run.why) == (2.5, 8, 2, "answered", "none")


def test_a_run_that_goes_on_is_listed_without_what_it_will_come_to(runs, save):
    save("r", ends=False)
    [run] = runs.page(RunFilter(), "latest", first=0, count=1, principal=LOCAL)
    assert (run.status, run.seconds, run.outcome, run.why) == ("running", None, None, None)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("last", "steps", "why"),
    [
        ({"outcome": "not_in_documents"}, [DECLINED], "no_document"),
        ({"outcome": "unconfirmed"}, [REJECTED], "misread"),
        ({"outcome": "from_model"}, [], "none"),
        ({"outcome": None, "status": "stopped"}, [], None),
        ({"outcome": None, "status": "failed", "error": EmptyIndex(index="i").as_failure()}, [], "no_document"),
        ({"outcome": None, "status": "failed", "error": IndexNotReady(index="i").as_failure()}, [], "no_document"),
    ],
)
def test_why_a_run_was_no_good_one_is_kept_when_it_ends(runs, save, history, last, steps, why):
    save("r", steps=steps, **last)
    assert history.run("r").why == why
    assert not why or ids(runs, RunFilter(why=why)) == ["r"]


def test_a_persons_cause_replaces_that_of_the_trace_until_it_is_removed(runs, save, history):
    save("r", steps=[DECLINED], outcome="not_in_documents")
    runs.set_cause("r", "not_found")
    assert (history.run("r").why, history.run("r").cause) == ("not_found", "no_document")
    assert (ids(runs, RunFilter(why="not_found")), ids(runs, RunFilter(why="no_document"))) == (["r"], [])
    runs.set_cause("r", None)
    assert history.run("r").why == "no_document"


@pytest.mark.both_databases
def test_a_text_of_the_page_that_was_stored_as_the_cause_of_a_person_is_removed(
    runs, save, history, data_dir, database
):
    for run_id, by_person in (("text", "From the trace: a good answer"), ("cause", "not_found"), ("untouched", None)):
        save(run_id)
        runs.set_cause(run_id, by_person)
    history.close()
    run_script(data_dir, database, "history", "UPDATE alembic_version SET version_num = '0011'")
    with closing(History(data_dir, database)) as history:
        told = {each.id: each.cause_by_person for each in history.runs(principal=LOCAL)}
    assert told == {"text": None, "cause": "not_found", "untouched": None}


def test_a_thumb_down_makes_an_answer_a_misread_one_and_changes_nothing_else(runs, save, history):
    save("answered")
    save("declined", steps=[DECLINED], outcome="not_in_documents")
    save("remembered", outcome="from_model")
    for run_id in ("answered", "declined", "remembered"):
        history.rate(run_id, -1)
    assert ids(runs, RunFilter(why="misread")) == ["answered"]
    assert ids(runs, RunFilter(why="no_document")) == ["declined"]
    assert ids(runs, RunFilter(why="none")) == ["remembered"]
    told = [history.run(each).why for each in ("answered", "declined", "remembered")]
    assert told == ["misread", "no_document", "none"]


def test_runs_are_found_by_state(runs, save, history):
    save("good")
    save("unconfirmed", steps=[REJECTED], outcome="unconfirmed")
    save("declined", steps=[DECLINED], outcome="not_in_documents")
    save("failed", outcome=None, status="failed")
    save("limited", outcome=None, status="limited")
    save("slow", seconds=60)
    history.rate("good", -1)
    for number in range(4):
        save(f"other {number}")
    found = {"unconfirmed": ["unconfirmed"], "no_answer": ["declined"], "thumb_down": ["good"], "slow": ["slow"]}
    for state, expected in found.items():
        assert ids(runs, RunFilter(state=state)) == expected
    assert ids(runs, RunFilter(state="failed")) == ["limited", "failed"]


def test_runs_are_found_by_a_vote_for_them_until_it_is_taken_back(runs, save, history):
    save("a")
    save("b")
    comparisons, conversation = (
        StoredComparisons(history.database),
        history.conversations.new("?", "comparison", principal=LOCAL).id,
    )
    with history.together() as within:
        comparisons.add(conversation, "?", "i", ["a", "b"], within=within)
    assert ids(runs, RunFilter(state="voted")) == []
    comparisons.vote(conversation, "a")
    assert ids(runs, RunFilter(state="voted")) == ["a"]
    comparisons.vote(conversation, None)
    assert ids(runs, RunFilter(state="voted")) == []


@pytest.mark.both_databases
def test_runs_are_found_by_words_whatever_their_case_and_width(runs, save):
    save("a", question="ÜBER ABC und ÉTÉ: ニットウ 100%")
    save("b", question="1000 others")
    for word in ("über", "ＡＢＣ", "abc", "été", "ﾆｯﾄｳ", "100％"):
        assert ids(runs, RunFilter(words=word)) == ["a"], word


def test_runs_are_found_by_words_pipeline_and_index(runs, save):
    save("a", question="Who approves 100% of it?", pipeline="naive", index="x")
    save("b", question="誰が承認しますか", pipeline="hybrid", index="x")
    save("c", question="Approved by whom?", pipeline="hybrid", index="y")
    assert ids(runs, RunFilter(words="APPROVE")) == ["c", "a"]
    assert ids(runs, RunFilter(words="it who")) == ["a"]
    assert ids(runs, RunFilter(words="0% _")) == []
    assert ids(runs, RunFilter(words="承認")) == ["b"]
    assert ids(runs, RunFilter(pipeline="hybrid", index="x")) == ["b"]
    assert (runs.pipelines(principal=LOCAL), runs.indexes(principal=LOCAL)) == (["hybrid", "naive"], ["x", "y"])


@pytest.mark.both_databases
def test_runs_come_in_any_order_a_page_at_a_time(runs, save):
    for name, seconds in (("a", 2), ("b", 3), ("c", 1)):
        save(name, seconds=seconds)
    save("in flight", ends=False)
    assert ids(runs) == ["in flight", "c", "b", "a"]
    assert ids(runs, order="earliest") == ["a", "b", "c", "in flight"]
    assert ids(runs, order="slowest") == ["b", "a", "c", "in flight"]
    assert ids(runs, order="fastest") == ["c", "a", "b", "in flight"]
    assert ids(runs, first=1, count=2) == ["c", "b"]


@pytest.mark.both_databases
def test_the_pages_of_each_order_have_each_run_once_also_where_many_are_equal(runs, save, history):
    for number in range(30):
        save(f"r{number}", seconds=number * 7 % 3, ends=number != 15)
    with history.database.begin() as connection:
        connection.exec_driver_sql("ANALYZE")  # Postgres now sorts the rows, as it does with few
    for order in ORDERS:
        shown = [each for first in range(0, 30, 10) for each in ids(runs, order=order, first=first, count=10)]
        assert sorted(shown) == sorted(f"r{number}" for number in range(30))


@pytest.mark.both_databases
def test_the_runs_through_each_one_are_counted_in_each_order(runs, save):
    for number in range(12):
        save(f"r{number}", seconds=number * 7 % 3, ends=number % 4 != 0)
    for order in ORDERS:
        counted = [
            runs.count_through(each, EVERY_RUN, order, principal=LOCAL) for each in ids(runs, order=order, count=12)
        ]
        assert counted == [*range(1, 13)]
    assert runs.count_through("r1", EVERY_RUN, "latest", principal=ME) == 0


def test_runs_are_gone_with_their_conversation(runs, save, history):
    save("r")
    history.conversations.delete(history.run("r").conversation_id)
    assert ids(runs) == []
    runs.set_cause("r", "misread")  # no error: a tab may still show the run


def test_each_has_a_list_of_their_own_and_an_admin_what_is_nobodys_beside_it(runs, save):
    for name, whose, pipeline in (
        ("a", ME, "naive"), ("b", OTHER, "hybrid"), ("c", ADMIN, "adaptive"), ("d", LOCAL, "self_rag"),
    ):  # fmt: skip
        save(name, whose=whose, pipeline=pipeline, index=f"of {name}")
    assert {
        each.id: (ids(runs, principal=each), runs.pipelines(principal=each), runs.indexes(principal=each))
        for each in (ME, OTHER, ADMIN, LOCAL)
    } == {
        "me": (["a"], ["naive"], ["of a"]),
        "other": (["b"], ["hybrid"], ["of b"]),
        "admin": (["d", "c"], ["adaptive", "self_rag"], ["of c", "of d"]),
        "local": (["d", "c", "b", "a"], ["adaptive", "hybrid", "naive", "self_rag"], ["of a", "of b", "of c", "of d"]),
    }


def test_slow_runs_and_voted_runs_are_found_among_a_persons_own_runs(runs, save, history):
    for number in range(10):
        save(f"mine {number}", whose=ME, seconds=number)
        save(f"other {number}", whose=OTHER, seconds=100 + number)
    assert ids(runs, RunFilter(state="slow"), principal=ME) == ["mine 9"]
    comparisons = StoredComparisons(history.database)
    for whose in (ME, OTHER):
        conversation = history.conversations.new("?", "comparison", principal=whose).id
        with history.together() as within:
            comparisons.add(conversation, "?", "i", ["mine 1", "mine 2"], within=within)
        comparisons.vote(conversation, "mine 1" if whose is ME else "mine 2")
    assert ids(runs, RunFilter(state="voted"), principal=ME) == ["mine 1"]
    assert comparisons.votes(["mine 1", "mine 2"], principal=ME) == {"mine 1": 1}


@pytest.mark.parametrize("principal", [LOCAL, ME, ADMIN], ids=["local", "reader", "admin"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.sqlite_alone
def test_no_order_needs_all_runs_to_be_sorted(runs, history, save, order, principal):
    for number in range(3):
        save(f"r{number}", whose=principal)
    asked = []
    event.listen(history.database, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    ids(runs, order=order, principal=principal)
    [(statement, parameters)] = [each for each in asked if "ORDER BY" in each[0] and "SELECT runs.id" in each[0]]
    with history.database.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    assert "USING INDEX" in plan[0][-1]
    assert not [row for row in plan if "TEMP B-TREE FOR ORDER BY" in row[-1]]  # runs that are equal are sorted

"""Limits per person: runs at once and tokens per day. Also: who sees how much each person has used."""

import asyncio
import io
import threading
from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from sqlalchemy import Engine, event

from index_store.access.limits import GroupLimits
from index_store.access.principal import Role
from index_store.access.rights import Right
from index_store.base.errors import AdminNeeded
from index_store.base.precedence import Precedence
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource, keep_upload
from index_store.ingestion.stages import embedding
from rag.errors import NotSaved, TokensUsedUp
from rag.models.calls.budget import Allowance, Budget
from rag.models.calls.usage import Usage
from rag.models.client.client import ChatClient
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import LeaveOut
from rag.runs.history import daily_usage
from rag.runs.history.daily_usage import DailyUsage
from rag.runs.history.history import History
from rag.runs.in_flight.allowances import SharedAllowance
from rag.runs.run.options import RunOptions
from rag.runs.run.run import Run
from rag.trace.calls import Request
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.local import as_person, grant, in_group
from tests.helpers.threads import is_under_way
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.scripted import Gate, Held, ScriptedSource
from tests.rag.verdicts import approve

PIPELINES = (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid"))


@pytest.fixture
def limited(open_engine, chat):
    """`limited(tokens_a_day=100)`: an engine with an index that everyone may read."""
    approve(chat)
    chat.default = ANSWER

    def limited(**settings: object) -> UserEngine:
        engine = open_engine(chat, **settings)
        grant(engine, INDEX)
        return engine

    return limited


@pytest.fixture
def saved_usage(data_dir, database) -> Iterator[DailyUsage]:
    history = History(data_dir, database)
    yield DailyUsage(history.database)
    history.close()


def ask(engine: UserEngine, question: str = QUESTION) -> Run:
    run = engine.ask(question, index=INDEX, pipeline_name="naive")
    run.result()
    return run


# Tokens per day


def test_who_has_used_up_a_days_tokens_is_refused_in_a_sentence_and_others_are_not(limited):
    engine = limited(tokens_a_day=1)
    alice, bob = as_person(engine, "alice"), as_person(engine, "bob")
    assert ask(alice).result().status == "finished"
    with pytest.raises(TokensUsedUp) as refused:
        ask(alice)
    assert refused.value.sentence("en").startswith("You have used up your tokens for today (1).")
    assert "管理者" in refused.value.sentence("ja")
    assert len(alice.history.runs()) == 1
    assert len(alice.history.conversations.listed()) == 1
    assert ask(bob).result().status == "finished"


def test_the_files_of_a_question_that_is_refused_are_added_all_the_same(limited):
    engine = limited(tokens_a_day=1)
    grant(engine, INDEX, Right.WRITE)
    alice = as_person(engine, "alice", Role.EDITOR)
    ask(alice)
    upload = keep_upload(engine.settings.data_dir, "parking.md", io.BytesIO(b"Behind the house."))
    with pytest.raises(TokensUsedUp):
        alice.ask(QUESTION, index=INDEX, pipeline_name="naive", attachments=[upload])
    [job] = alice.store.ingestions
    assert [(each.source, each.status) for each in job.wait()] == [("parking.md", IngestStatus.READY)]
    assert not upload.path.exists()


def test_comparisons_and_forks_are_refused_as_well_and_leave_nothing_behind(limited):
    engine = limited(tokens_a_day=1)
    alice = as_person(engine, "alice")
    run = ask(alice)
    with pytest.raises(TokensUsedUp):
        alice.comparisons.begin(QUESTION, INDEX, PIPELINES)
    with pytest.raises(TokensUsedUp):
        alice.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=1)])
    assert [each.id for each in alice.history.runs()] == [run.id]
    assert alice.comparisons.latest(10) == []


def test_a_run_that_uses_up_the_tokens_of_the_day_is_limited(limited):
    engine = limited(tokens_a_day=100)
    alice = as_person(engine, "alice")
    run = alice.ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    last = run.result()
    assert (last.status, last.error.code) == ("limited", "tokens_used_up")


def test_runs_that_are_under_way_count_before_they_are_over(limited, chat):
    gate = Gate()
    chat.answer_when("二つ目", answer=Held(gate, ANSWER))
    engine = limited(tokens_a_day=60, runs_at_once=4)
    alice = as_person(engine, "alice")
    held = alice.ask("二つ目の日当は?", index=INDEX, pipeline_name="naive")
    gate.wait_for(1)
    other = alice.ask(QUESTION, index=INDEX, pipeline_name="naive")
    other.result()
    with pytest.raises(TokensUsedUp):
        alice.ask(QUESTION, index=INDEX, pipeline_name="naive")
    gate.open()
    assert held.result().status == "finished"


def test_whoever_deletes_a_conversation_has_used_its_tokens_all_the_same(limited):
    engine = limited(tokens_a_day=1)
    alice = as_person(engine, "alice")
    alice.delete_conversation(ask(alice).conversation_id)
    alice.personal_data.delete()
    with pytest.raises(TokensUsedUp):
        ask(alice)


def test_a_new_day_brings_new_tokens(limited, monkeypatch):
    engine = limited(tokens_a_day=1)
    alice = as_person(engine, "alice")
    ask(alice)
    tomorrow = daily_usage.today() + timedelta(days=1)
    monkeypatch.setattr("rag.runs.in_flight.allowances.today", lambda: tomorrow)
    assert ask(alice).result().status == "finished"


def test_a_group_may_have_more_or_no_limit_from_the_next_question_on(limited):
    engine = limited(tokens_a_day=1)
    alice = in_group(engine, "alice", "research", GroupLimits())
    ask(alice)
    with pytest.raises(TokensUsedUp):
        ask(alice)
    process_of(engine).store.access.limits.set("research", GroupLimits(tokens_a_day=0))
    assert ask(alice).result().status == "finished"


def test_without_a_setting_nobody_has_a_limit(limited):
    engine = limited()
    for _ in range(2):
        assert ask(engine).result().status == "finished"


def test_what_was_used_and_can_not_be_saved_costs_nobody_an_answer(limited, monkeypatch):
    def fails(*_: object, **__: object) -> None:
        raise NotSaved

    engine = limited()
    monkeypatch.setattr(DailyUsage, "add", fails)
    assert engine.ask(QUESTION, index=INDEX, pipeline_name="naive").result().status == "finished"


def test_a_reply_that_counts_its_tokens_with_every_piece_is_saved_once_when_it_ends(saved_usage):
    statements = []
    allowance = SharedAllowance(usage=saved_usage, person_id="anna", day=daily_usage.today())
    usage = Usage(Budget(allowance=allowance))
    request = Request(task="answer", model="m", temperature=0, max_tokens=9, messages=())
    listen = (Engine, "before_cursor_execute", lambda *seen: statements.append(seen[2]))

    async def call() -> None:
        async with usage.call(request) as reply:
            for written in (1, 2, 3, 3):
                counts = UsageMetadata(input_tokens=9, output_tokens=written, total_tokens=9 + written)
                reply.read(AIMessageChunk("Snow", usage_metadata=counts))
            assert not [each for each in statements if "INSERT INTO" in each]

    event.listen(*listen)
    try:
        asyncio.run(call())
        assert len([each for each in statements if "INSERT INTO" in each]) == 1
    finally:
        event.remove(*listen)
    assert saved_usage.tokens("anna", daily_usage.today()) == allowance.spent == 12


def test_what_a_reply_has_used_so_far_counts_for_the_calls_beside_it_in_every_app(saved_usage):
    one, other = (SharedAllowance(12, usage=saved_usage, person_id="anna", day=daily_usage.today()) for _ in range(2))
    one.spend(12)
    with pytest.raises(TokensUsedUp):
        one.check()
    with pytest.raises(TokensUsedUp):
        other.check()


def test_what_can_not_be_saved_of_a_reply_is_saved_after_the_next_one(saved_usage, monkeypatch):
    def fails(*_: object, **__: object) -> None:
        raise NotSaved

    allowance = SharedAllowance(usage=saved_usage, person_id="anna", day=daily_usage.today())
    allowance.spend(5)
    with monkeypatch.context() as away:
        away.setattr(DailyUsage, "add", fails)
        allowance.save()
    allowance.spend(2)
    allowance.save()
    assert saved_usage.tokens("anna", daily_usage.today()) == 7


@pytest.mark.parametrize("statement", ["add", "tokens"])
def test_while_the_database_of_one_runs_usage_takes_long_another_run_goes_on(saved_usage, chat, monkeypatch, statement):
    is_waiting, is_other_done, in_time = threading.Event(), threading.Event(), []

    def takes_long(*_: object, **__: object) -> int:
        is_waiting.set()
        in_time.append(is_other_done.wait(3))
        return 0

    async def ask(allowance: Allowance) -> None:
        await ChatClient(chat, "m").write([("user", QUESTION)], Usage(Budget(allowance=allowance)))

    async def both() -> None:
        shared = SharedAllowance(1000, usage=saved_usage, person_id="anna", day=daily_usage.today())
        slow = asyncio.create_task(ask(shared))
        await asyncio.to_thread(is_waiting.wait, PATIENCE)
        await ask(Allowance())
        is_other_done.set()
        await slow

    monkeypatch.setattr(DailyUsage, statement, takes_long)
    asyncio.run(both())
    assert in_time == [True]


def test_what_a_call_has_used_is_saved_also_if_it_is_stopped_meanwhile(saved_usage, chat, monkeypatch):
    add, is_saving, is_stopped = DailyUsage.add, threading.Event(), threading.Event()

    def takes_long(*whose: object, **tokens: int) -> None:
        is_saving.set()
        is_stopped.wait(3)
        add(*whose, **tokens)

    allowance = SharedAllowance(usage=saved_usage, person_id="anna", day=daily_usage.today())

    async def stop() -> None:
        call = asyncio.create_task(
            ChatClient(chat, "m").write([("user", QUESTION)], Usage(Budget(allowance=allowance)))
        )
        await asyncio.to_thread(is_saving.wait, PATIENCE)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        is_stopped.set()

    monkeypatch.setattr(DailyUsage, "add", takes_long)
    asyncio.run(stop())
    assert saved_usage.tokens("anna", daily_usage.today()) == allowance.spent > 0


# Runs at once


def test_a_group_may_have_another_number_of_runs_at_once(limited, chat):
    gate = Gate()
    chat.answer_when("日当", answer=Held(gate, ANSWER))
    engine = limited(runs_at_once=10, runs_per_person=1)
    alice = in_group(engine, "alice", "research", GroupLimits(runs_at_once=2))
    bob = as_person(engine, "bob")
    runs = [each.ask(f"日当{n}?", index=INDEX, pipeline_name="naive") for n in range(3) for each in (alice, bob)]
    gate.wait_for(3)
    assert eventually(lambda: sum(run.before == 0 for run in runs) == 3)
    at_work = [run for run in runs if run.before == 0]
    assert sum(run in at_work for run in runs[::2]) == 2
    gate.open()
    assert {run.result().status for run in runs} == {"finished"}


# Usage by person


def test_admins_see_who_uses_what_and_everybody_sees_their_own(limited):
    engine = limited()
    alice, bob = as_person(engine, "alice"), as_person(engine, "bob", Role.EDITOR)
    runs = [ask(alice), ask(alice), ask(bob)]
    tokens = [run.result().totals.tokens for run in runs]
    [first, second] = process_of(engine).usage.by_person()
    assert first == (person_of(alice).id, 2, sum(tokens[:2]), 2, sum(tokens[:2]))
    assert second == (person_of(bob).id, 1, tokens[2], 1, tokens[2])
    assert as_person(engine, "root", Role.ADMIN).usage.by_person() == [first, second]
    assert (alice.usage.of(), bob.usage.of()) == (first, second)
    for someone in (alice, bob):
        with pytest.raises(AdminNeeded):
            someone.usage.by_person()


def test_a_month_later_it_is_no_longer_known(limited):
    engine = limited()
    used = process_of(engine).usage
    used.add("old", date.today() - timedelta(days=40), tokens=5)
    used.add("young", date.today() - timedelta(days=20), tokens=5)
    used.sweep()
    assert used.by_person() == [("young", 0, 0, 1, 5)]


def test_the_sum_of_31_days_has_31_days_before_the_older_ones_are_deleted_and_afterwards(limited):
    used = process_of(limited()).usage
    for days, tokens in ((0, 1), (30, 10), (31, 100)):
        used.add("anna", date.today() - timedelta(days=days), tokens=tokens)
    sums = ("anna", 1, 1, 2, 11)
    assert (used.of("anna"), used.by_person()) == (sums, [sums])
    used.sweep()
    assert used.of("anna") == sums
    assert used.tokens("anna", date.today() - timedelta(days=31)) == 0


# Long jobs


@pytest.mark.parametrize("gives_way", [True, False])
def test_jobs_give_way_while_a_model_of_this_machine_answers_and_only_then(
    opened, chat, tmp_path, monkeypatch, gives_way
):
    gate = Gate()
    chat.answer_when("日当", answer=Held(gate, ANSWER))
    monkeypatch.setattr(ScriptedSource, "is_in_app", gives_way)
    monkeypatch.setattr(embedding, "GIVE_WAY_SECONDS", 60)
    (tmp_path / "new.md").write_text("# New\n\nWords.")
    with opened() as engine:
        run = engine.ask("日当は?", index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        job = engine.store.ingest(INDEX, [FileSource(tmp_path / "new.md")])
        assert eventually(lambda: is_under_way(Precedence.give_way) if gives_way else job.is_finished)
        assert job.is_finished != gives_way
        gate.open()
        run.result()
        assert [each.status for each in job.wait()] == ["ready"]

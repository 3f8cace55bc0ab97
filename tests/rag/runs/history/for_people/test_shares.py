"""Shares: what a link to a conversation or a run shows, and that it shows nothing after it is revoked."""

import hashlib
import sqlite3
import time
from contextlib import closing

import pytest

from index_store.access.principal import LOCAL
from rag.errors import NothingOfThisName, UnknownShare
from rag.models.service.ja import JA
from rag.runs.fork.edits import LeaveOut
from rag.runs.history import schema
from rag.runs.history.for_people.shares import NOTED_EVERY, Shares
from rag.runs.history.history import History
from rag.runs.history.schema import FILE
from rag.trace.events import RunFinished, RunStarted, StepFinished, Totals
from tests.helpers.back_doors import process_of
from tests.helpers.by_hand import run_script
from tests.rag.documents import INDEX, QUESTION
from tests.rag.scripted import Gate, Held


@pytest.fixture
def ask(engine, chat):
    chat.default = "日当は1日2,500円です[1]。"

    def ask(question: str = QUESTION, conversation_id: str | None = None, **options: str):
        run = engine.ask(question, index=INDEX, pipeline_name="naive", conversation_id=conversation_id, **options)
        run.result()
        return run

    return ask


def shown(engine, token: str) -> list[str]:
    return [run.id for run in engine.shares.shared(token).runs]


def test_a_link_to_a_conversation_shows_its_runs_and_one_to_a_run_that_run_alone(engine, ask):
    first = ask()
    second = ask("宿泊費は?", first.conversation_id)
    whole, one = engine.shares.add(first.conversation_id), engine.shares.add(second.id)
    assert shown(engine, whole.token) == [first.id, second.id]
    assert shown(engine, one.token) == [second.id]
    assert (whole.share.kind, whole.share.title) == ("conversation", QUESTION)
    assert (one.share.kind, one.share.title, one.share.conversation_id) == ("run", "宿泊費は?", first.conversation_id)


def test_a_link_to_a_run_shows_nothing_that_was_said_before_it(engine, chat, ask):
    first = ask("パスワードは hunter2 ですが使えますか?")
    chat.answer_when(JA.standalone, answer="宿泊費は誰が承認しますか?")
    second = ask("それは誰が承認しますか?", first.conversation_id)
    whole, one = engine.shares.add(first.conversation_id), engine.shares.add(second.id)

    def told(token: str) -> tuple[str, int]:
        traces = engine.shares.shared(token)
        ended = [each for each in traces.events(second.id) if isinstance(each, StepFinished)]
        calls = [call for each in ended for call in traces.calls.of_step(second.id, each.step, each.attempt)]
        outlines = traces.outlines_of(traces.runs[-1:])
        return "".join(map(str, (*ended, *calls, *outlines))), len(calls)

    text, calls = told(one.token)
    assert "hunter2" not in text
    assert "宿泊費は誰が承認しますか?" in text
    all_text, all_calls = told(whole.token)
    assert "hunter2" in all_text
    assert calls == all_calls - 1 > 0


def test_a_link_to_a_fork_shows_nothing_that_was_said_in_the_conversation_of_its_origin(engine, chat, ask):
    first = ask("パスワードは hunter2 ですが使えますか?")
    chat.answer_when(JA.standalone, answer="宿泊費は誰が承認しますか?")
    second = ask("それは誰が承認しますか?", first.conversation_id)
    fork = engine.forks.begin(second.id, "generate", 1, [LeaveOut(passage=1)])
    fork.result()
    traces = engine.shares.shared(engine.shares.add(fork.conversation_id).token)
    assert [run.id for run in traces.runs] == [fork.id]
    assert "hunter2" not in str(traces.events(fork.id))
    assert traces.calls.of_step(fork.id, "standalone_question", 1) == ()
    assert traces.calls.of_step(fork.id, "generate", 1)


def test_a_link_to_a_run_shows_no_rewrite_that_was_refused_because_it_may_repeat_an_earlier_question(engine, chat, ask):
    first = ask("パスワードは hunter2 ですが使えますか?")
    chat.answer_when(JA.standalone, answer="May the password hunter2 be used?")
    second = ask("それは誰が承認しますか?", first.conversation_id)
    [step] = [each for each in second.events if isinstance(each, StepFinished) and each.step == "standalone_question"]
    assert step.detail.why == "refused"
    one = engine.shares.shared(engine.shares.add(second.id).token)
    assert "hunter2" not in str(one.events(second.id))


def test_what_is_asked_after_a_conversation_was_shared_stays_out_of_that_link(engine, ask):
    first = ask()
    link = engine.shares.add(first.conversation_id)
    ask("And what do I earn?", first.conversation_id)
    assert shown(engine, link.token) == [first.id]


def test_a_link_shows_the_branch_that_was_shared_and_not_the_questions_that_were_edited_away(engine, ask):
    first = ask()
    edited_away = ask("パスワードは hunter2 ですが使えますか?", first.conversation_id)
    after_it = ask("月曜日は?", first.conversation_id)
    edited = ask("パスワードは使えますか?", first.conversation_id, edits=edited_away.id)
    latest = engine.shares.add(first.conversation_id)
    earlier = engine.shares.add(first.conversation_id, through=edited_away.id)
    ask("宿泊費は?", first.conversation_id)
    ask("火曜日は?", first.conversation_id, edits=after_it.id)
    assert shown(engine, latest.token) == [first.id, edited.id]
    assert shown(engine, earlier.token) == [first.id, edited_away.id, after_it.id]


def test_the_title_of_a_link_is_no_first_question_that_was_edited_away(engine, ask):
    first = ask("パスワードは hunter2 ですが使えますか?")
    ask("パスワードは使えますか?", first.conversation_id, edits=first.id)
    latest = engine.shares.shared(engine.shares.add(first.conversation_id).token).share
    assert latest.title == "パスワードは使えますか?"
    assert engine.exports.gather(first.conversation_id, "json").title == "パスワードは使えますか?"
    engine.history.conversations.rename(first.conversation_id, "出張")
    assert engine.exports.gather(first.conversation_id, "json").title == "出張"


@pytest.mark.both_databases
def test_a_link_of_before_links_had_branches_shows_the_latest_branch_of_its_time(data_dir, database):
    with closing(History(data_dir, database)) as history:
        conversation = history.conversations.new("?", principal=LOCAL).id
        ended = RunFinished(status="finished", answer="", outcome="answered", citations=(), totals=Totals(seconds=1))
        for at, (run_id, follows) in enumerate({"a": "", "b": "a", "c": "b", "edited": "a", "later": "c"}.items()):
            of_it = {"run_id": run_id, "conversation_id": conversation, "follows": follows, "question": run_id}
            history.save(run_id, RunStarted(**of_it, index=INDEX, pipeline="naive", model="m", at=at))
            history.save(run_id, ended)
        token = Shares(history).add(conversation, principal=LOCAL).token
    before = "UPDATE shares SET created_at = 3.5; ALTER TABLE shares DROP COLUMN through"
    run_script(data_dir, database, "history", f"{before}; UPDATE alembic_version SET version_num = '0010'")
    with closing(History(data_dir, database)) as history:
        assert [run.id for run in Shares(history).shared(token).runs] == ["a", "edited"]


def test_an_answer_that_is_being_made_is_shown_when_it_is_finished(engine, chat, ask):
    first = ask()
    gate = Gate()
    chat.enqueue(Held(gate, "800円です[1]。"))
    run = engine.ask("半日では?", index=INDEX, pipeline_name="naive", conversation_id=first.conversation_id)
    gate.wait_for(1)
    link = engine.shares.add(first.conversation_id)
    assert shown(engine, link.token) == [first.id]
    gate.open()
    run.result()
    assert shown(engine, link.token) == [first.id, run.id]


def test_revoked_deleted_and_unknown_links_get_the_same_error(engine, ask):
    revoked, deleted = engine.shares.add(ask().id), engine.shares.add(ask().conversation_id)
    engine.shares.revoke(revoked.share.id)
    engine.shares.revoke(revoked.share.id)
    engine.delete_conversation(deleted.share.conversation_id)
    told = set()
    for token in (revoked.token, deleted.token, "never", "", "\ud800", revoked.share.id, deleted.token[:-1]):
        with pytest.raises(UnknownShare) as refusal:
            engine.shares.shared(token)
        told.add((refusal.value.sentence("en"), refusal.value.sentence("ja")))
    assert len(told) == 1


def test_links_are_listed_the_latest_first_with_what_became_of_them(engine, ask):
    run = ask()
    first, second = engine.shares.add(run.conversation_id), engine.shares.add(run.id)
    assert [each.id for each in engine.shares.listed()] == [second.share.id, first.share.id]
    assert [each.id for each in engine.shares.listed(latest=1)] == [second.share.id]
    assert [each.id for each in engine.shares.listed(run.id)] == [second.share.id]
    assert engine.shares.count() == 2
    engine.shares.shared(first.token)
    engine.shares.revoke(second.share.id)
    revoked, opened = engine.shares.listed()
    assert (revoked.opened_at, revoked.revoked_at) == (None, pytest.approx(time.time(), abs=NOTED_EVERY))
    assert (opened.opened_at, opened.revoked_at) == (pytest.approx(time.time(), abs=NOTED_EVERY), None)
    engine.delete_conversation(run.conversation_id)
    assert engine.shares.listed() == []


def test_when_a_link_was_last_opened_is_right_again_after_the_clock_was_set_back(engine, ask):
    link = engine.shares.add(ask().id)
    with process_of(engine).history.database.begin() as connection:
        connection.execute(schema.shares.update().values(opened_at=time.time() + 60 * NOTED_EVERY))
    engine.shares.shared(link.token)
    [opened] = engine.shares.listed()
    assert opened.opened_at <= time.time()


@pytest.mark.sqlite_alone
def test_the_token_is_kept_nowhere_but_by_its_hash(engine, data_dir, ask):
    link = engine.shares.add(ask().id)
    assert len(link.token) >= 43  # 256 bits
    kept = b"".join(file.read_bytes() for file in data_dir.glob(f"{FILE}*"))
    assert link.token.encode() not in kept
    with closing(sqlite3.connect(data_dir / FILE)) as database:
        assert database.execute("SELECT token_hash FROM shares").fetchall() == [
            (hashlib.sha256(link.token.encode()).digest(),)
        ]
    assert link.token not in repr(link.share)


def test_only_what_there_is_can_be_shared(engine):
    with pytest.raises(NothingOfThisName):
        engine.shares.add("nothing")


def test_a_link_outlives_its_engine(open_engine, chat, ask, engine):
    run = ask()
    link = engine.shares.add(run.id)
    assert shown(open_engine(chat), link.token) == [run.id]

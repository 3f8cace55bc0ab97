import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from index_store.access.principal import LOCAL
from index_store.base.errors import DataFolderNewer, DataFolderUnusable
from rag.runs.history.conversations.conversations import TITLE_LENGTH
from rag.runs.history.history import LONGEST_REASON, History
from rag.runs.history.schema import FILE, SCHEMA, calls, events, place
from rag.runs.history.suggestions import StoredSuggestions
from rag.trace.calls import MOST_OF_A_CALL, MOST_OF_A_RUN, Call, Message, ShortenedText
from rag.trace.details import RefinementDetail, RetrievalDetail, Strip
from rag.trace.events import (
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Token,
    Totals,
    UnknownEvent,
    from_json,
    to_json,
)
from rag.trace.passages import Passage
from tests.helpers.by_hand import run_script
from tests.helpers.migrated import differences
from tests.rag.trace.steps import finished


@pytest.fixture
def history(data_dir, database) -> Iterator[History]:
    history = History(data_dir, database)
    yield history
    history.close()


def started(conversation_id: str, run_id: str = "r", at: float = 1.0) -> RunStarted:
    return RunStarted(
        run_id=run_id, conversation_id=conversation_id, question="日当は?", index="規程", pipeline="naive", model="m",
        at=at,
    )  # fmt: skip


FINISHED = RunFinished(status="finished", answer="2,500円", outcome="answered", citations=(), totals=Totals(seconds=1))


def test_a_conversation_is_titled_by_its_first_question_on_one_line(history):
    assert history.conversations.new(" 日当は\n いくら? ", principal=LOCAL).title == "日当は いくら?"
    long = history.conversations.new("あ" * 100, principal=LOCAL).title
    assert len(long) == TITLE_LENGTH
    assert long.endswith("…")


def test_the_conversation_of_the_latest_question_comes_first(history):
    first, second = history.conversations.new("1", principal=LOCAL), history.conversations.new("2", principal=LOCAL)
    assert [each.id for each in history.conversations.listed(principal=LOCAL)] == [second.id, first.id]
    history.save("r", started(first.id, at=second.updated_at + 1))
    assert [each.id for each in history.conversations.listed(principal=LOCAL)] == [first.id, second.id]


@pytest.mark.both_databases
def test_a_follow_up_comes_after_what_it_follows_whatever_the_clocks_say(history):
    """Asked in an app whose clock is behind, or after the clock of the only app was set back."""
    conversation = history.conversations.new("日当は?", principal=LOCAL).id
    for run_id, at in (("first", 1e9), ("second", 1e9 - 90), ("third", 1e9 - 60), ("fourth", 1e9 + 60)):
        history.save(run_id, started(conversation, run_id, at))
    assert history.branch(conversation).runs == ("first", "second", "third", "fourth")
    assert history.branch(conversation).siblings == {}
    runs = history.runs(conversation, principal=LOCAL)
    assert [run.id for run in runs] == ["first", "second", "third", "fourth"]
    history.save("fifth", started(conversation, "fifth", 1e9 - 90))
    assert history.conversations.get(conversation).updated_at > runs[-1].started_at == 1e9 + 60


def test_as_many_conversations_as_are_wanted_are_listed_the_latest_first(history):
    made = [history.conversations.new(str(number), principal=LOCAL) for number in range(5)]
    assert history.conversations.listed(latest=2, principal=LOCAL) == made[:2:-1]
    assert history.conversations.count(principal=LOCAL) == 5


def test_conversations_are_found_by_words_of_any_of_their_questions(history):
    first = history.conversations.new("Who approves the Green Car?", principal=LOCAL)
    second = history.conversations.new("有給休暇の日数は?", principal=LOCAL)
    history.save("r", started(second.id, at=second.updated_at))  # its question is 日当は?
    history.conversations.new("100% of it?", principal=LOCAL)
    for words, found in (("car green", [first]), ("日当", [second]), ("有給", [second]), ("car 日当", []), ("%_", [])):
        assert history.conversations.listed(words, principal=LOCAL) == found
        assert history.conversations.count(words, principal=LOCAL) == len(found)
    assert history.conversations.get(first.id) == first


def test_events_come_back_as_they_were_saved_but_for_tokens(history):
    conversation = history.conversations.new("日当は?", principal=LOCAL)
    events = [started(conversation.id), StepStarted(step="retrieve", attempt=1, start=0.1), FINISHED]
    for event in [*events[:2], Token(step="generate", attempt=1, text="2"), events[2]]:
        history.save("r", event)
    assert history.events("r") == events


def test_events_of_before_there_was_a_choice_of_retrieval_are_still_read():
    started = from_json(
        '{"kind":"run_started","run_id":"r","conversation_id":"c","question":"?","index":"i","pipeline":"naive",'
        '"model":"m","at":1.0}'
    )
    assert started.retrieval is None
    step = from_json(
        '{"kind":"step_finished","step":"retrieve","attempt":1,"start":0.0,"milliseconds":1.0,"model_calls":0,'
        '"tokens_in":0,"tokens_out":0,"detail":{"type":"retrieval","query":"?","mode":"vector","unit":"chunk",'
        '"passages":[{"number":1,"rank":1,"score":0.8,"document_id":"d","section_id":"s","source":"a.md","title":"t",'
        '"headings":[],"page":null,"text":"x","start":0,"end":1}]}}'
    )
    [passage] = step.detail.passages
    assert (passage.vector_rank, passage.keyword_score, passage.best_start, passage.copies) == (None, None, None, ())
    assert (step.detail.words, step.detail.left_out, step.detail.trimmed) == (None, 0, 0)


def test_a_run_is_running_until_its_last_event(history):
    history.save("r", started(history.conversations.new("?", principal=LOCAL).id))
    assert history.run("r").status == "running"
    history.save("r", FINISHED)
    run = history.run("r")
    assert (run.status, run.question, run.index, run.pipeline, run.feedback) == (
        "finished", "日当は?", "規程", "naive", None,
    )  # fmt: skip


def test_runs_are_listed_by_conversation_or_all_the_earliest_first(history):
    one, other = history.conversations.new("1", principal=LOCAL).id, history.conversations.new("2", principal=LOCAL).id
    for run_id, conversation, at in (("b", one, 2), ("a", other, 1), ("c", one, 3)):
        history.save(run_id, started(conversation, run_id, at))
    assert [run.id for run in history.runs(principal=LOCAL)] == ["a", "b", "c"]
    assert [run.id for run in history.runs(one, principal=LOCAL)] == ["b", "c"]


def test_what_is_not_there_is_none_or_empty(history):
    assert history.run("?") is None
    assert history.events("?") == []
    assert not history.conversations.exists("?")


def test_a_thumb_can_be_turned_and_taken_back(history):
    history.save("r", started(history.conversations.new("?", principal=LOCAL).id))
    for thumb in (1, -1, None):
        history.rate("r", thumb)
        assert history.run("r").feedback == thumb


def test_a_thumb_keeps_its_reason_when_it_is_turned_and_loses_it_when_it_is_taken_back(history):
    history.save("r", started(history.conversations.new("日当は?", principal=LOCAL).id))
    history.explain_feedback("r", "no thumb yet")
    assert history.run("r").feedback_reason is None
    history.rate("r", -1)
    history.explain_feedback("r", "  Wrong year.\nIt is of 2019. ")
    assert history.run("r").feedback_reason == "Wrong year.\nIt is of 2019."
    history.rate("r", 1)
    assert (history.run("r").feedback, history.run("r").feedback_reason) == (1, "Wrong year.\nIt is of 2019.")
    history.explain_feedback("r", "あ" * (LONGEST_REASON + 1))
    assert history.run("r").feedback_reason == "あ" * LONGEST_REASON
    history.explain_feedback("r", " ")
    assert history.run("r").feedback_reason is None
    history.explain_feedback("r", "Good.")
    history.rate("r", None)
    assert (history.run("r").feedback, history.run("r").feedback_reason) == (None, None)


def test_a_conversation_has_the_name_that_it_is_given_and_is_found_by_it(history):
    first, second = (
        history.conversations.new("日当は?", principal=LOCAL),
        history.conversations.new("Trains", principal=LOCAL),
    )
    history.save("r", started(first.id, at=1.0))
    history.conversations.rename(first.id, "  出張の\n決まり ")
    assert history.conversations.get(first.id).title == "出張の 決まり"
    assert [each.id for each in history.conversations.listed("決まり", principal=LOCAL)] == [first.id]
    assert [each.id for each in history.conversations.listed("日当", principal=LOCAL)] == [first.id]
    assert [each.id for each in history.conversations.listed(principal=LOCAL)] == [second.id, first.id]
    history.conversations.rename(first.id, "x" * 200)
    assert history.conversations.get(first.id).title == "x" * (TITLE_LENGTH - 1) + "…"
    history.conversations.rename(second.id, " \n")
    assert history.conversations.get(second.id).title == "Trains"


def test_what_may_be_asked_next_goes_with_its_run(history):
    conversation = history.conversations.new("日当は?", principal=LOCAL)
    suggestions = StoredSuggestions(history.database, history.redaction)
    suggestions.save("r", ["Of no run"])
    history.save("r", started(conversation.id))
    suggestions.save("r", ["いつ?", "誰が?"])
    assert suggestions.after("r") == ("いつ?", "誰が?")
    history.conversations.delete(conversation.id)
    assert suggestions.after("r") == ()


def test_a_deleted_conversation_takes_its_runs_and_events_along_and_no_others(history):
    gone, kept = history.conversations.new("1", principal=LOCAL).id, history.conversations.new("2", principal=LOCAL).id
    history.save("gone", started(gone, "gone"))
    history.save("kept", started(kept, "kept"))
    history.conversations.delete(gone)
    assert [run.id for run in history.runs(principal=LOCAL)] == ["kept"]
    assert history.events("gone") == []
    assert not history.conversations.exists(gone)
    assert history.conversations.exists(kept)


def test_only_runs_that_were_under_way_are_closed_as_interrupted(history):
    conversation = history.conversations.new("?", principal=LOCAL).id
    history.save("done", started(conversation, "done"))
    history.save("done", FINISHED)
    history.save("dead", started(conversation, "dead"))
    history.close_interrupted_runs()
    history.close_interrupted_runs()
    assert history.events("done")[-1] == FINISHED
    assert history.run("dead").status == "failed"
    [_, end] = history.events("dead")
    assert end.error.code == "interrupted"


@pytest.mark.both_databases
def test_it_outlives_its_process(history, data_dir, database):
    conversation = history.conversations.new("日当は?", principal=LOCAL)
    history.close()
    again = History(data_dir, database)
    assert again.conversations.listed(principal=LOCAL) == [conversation]
    again.close()


# Calls of the chat model


def call(text: str) -> Call:
    return Call(
        task="answer", model="m", temperature=0, max_tokens=9, number=1, milliseconds=1, status="finished",
        messages=(Message(role="user", text=text),), reply=ShortenedText(text=""),
    )  # fmt: skip


def test_the_calls_of_a_step_are_found_by_run_step_and_attempt(history):
    conversation = history.conversations.new("?", principal=LOCAL).id
    for run_id in "ab":
        history.save(run_id, started(conversation, run_id))
        for step, attempt in (("grade", 1), ("grade", 2), ("generate", 1)):
            history.calls.save(run_id, step, attempt, [call(f"{run_id} {step} {attempt}")])
    assert history.calls.of_step("b", "grade", 2) == (call("b grade 2"),)
    assert history.calls.of_step("b", "grade", 3) == ()


def test_what_a_run_keeps_of_its_calls_has_a_limit_over_all_its_steps(history):
    history.save("r", started(history.conversations.new("?", principal=LOCAL).id))
    steps = MOST_OF_A_RUN // MOST_OF_A_CALL + 1
    for attempt in range(1, steps + 1):
        history.calls.save("r", "generate", attempt, [call("x" * MOST_OF_A_CALL)])
    kept = [history.calls.of_step("r", "generate", attempt)[0].messages[0] for attempt in range(1, steps + 1)]
    assert [each.left_out for each in kept] == [0] * (steps - 1) + [MOST_OF_A_CALL]


def test_the_texts_are_packed(history):
    history.save("r", started(history.conversations.new("?", principal=LOCAL).id))
    history.calls.save("r", "generate", 1, [call("金庫の暗証番号" * 1000)])
    with history.database.connect() as connection:
        assert connection.execute(select(func.length(calls.c.packed))).scalar() < 1000


# Versions


BEFORE_VERSIONS = """
CREATE TABLE conversations (id VARCHAR NOT NULL, title TEXT NOT NULL, created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL, PRIMARY KEY (id));
CREATE INDEX ix_conversations_updated_at ON conversations (updated_at);
CREATE TABLE runs (id VARCHAR NOT NULL, conversation_id VARCHAR NOT NULL, question TEXT NOT NULL,
    index_name VARCHAR NOT NULL, pipeline VARCHAR NOT NULL, started_at FLOAT NOT NULL, status VARCHAR NOT NULL,
    feedback INTEGER, PRIMARY KEY (id), FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE);
CREATE INDEX ix_runs_conversation_id ON runs (conversation_id);
CREATE TABLE events (run_id VARCHAR NOT NULL, position INTEGER NOT NULL, event TEXT NOT NULL,
    PRIMARY KEY (run_id, position), FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE);
"""
"""the history of version 0.1.0"""

VERSION_1 = f"""
{BEFORE_VERSIONS}
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, PRIMARY KEY (version_num));
INSERT INTO alembic_version VALUES ('0001');
INSERT INTO conversations VALUES ('c', '日当は?', 1, 1);
INSERT INTO runs VALUES ('r', 'c', '日当は?', '規程', 'naive', 1, 'finished', NULL);
"""
"""the last version that stored no prompts"""

VERSION_2 = f"""
{VERSION_1}
UPDATE alembic_version SET version_num = '0002';
CREATE TABLE calls (run_id VARCHAR NOT NULL, step VARCHAR NOT NULL, attempt INTEGER NOT NULL,
    characters INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (run_id, step, attempt),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE);
INSERT INTO conversations VALUES ('d', 'Trains?', 2, 2);
INSERT INTO runs VALUES ('s', 'd', 'Trains?', '規程', 'naive', 2, 'finished', NULL);
INSERT INTO runs VALUES ('t', 'c', '宿泊費は?', '規程', 'naive', 3, 'finished', -1);
INSERT INTO runs VALUES ('u', 'c', '食費は?', '規程', 'naive', 4, 'finished', NULL);
"""
"""the last version without branches"""


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="new"),
        pytest.param(BEFORE_VERSIONS, id="of 0.1.0"),
        # That of 0.1.0 comes through these versions too.
        pytest.param(VERSION_1, id="0001", marks=pytest.mark.soak),
        pytest.param(VERSION_2, id="0002", marks=pytest.mark.soak),
    ],
)
def test_a_history_has_the_same_tables_whatever_it_was_made_of(data_dir, database, before):
    data_dir.mkdir()
    run_script(data_dir, database, "history", before)
    History(data_dir, database).close()
    assert differences(place(data_dir, database), SCHEMA) == []


def test_runs_of_before_prompts_were_kept_have_none_and_new_ones_have(data_dir, database):
    data_dir.mkdir()
    run_script(data_dir, database, "history", VERSION_1)
    with closing(History(data_dir, database)) as history:
        assert history.calls.of_step("r", "generate", 1) == ()
        history.calls.save("r", "generate", 2, [call("日当は?")])
        assert history.calls.of_step("r", "generate", 2) == (call("日当は?"),)
        history.conversations.delete("c")
        assert history.calls.of_step("r", "generate", 2) == ()


@pytest.mark.both_databases
def test_runs_of_before_there_were_branches_follow_each_other_as_they_were_asked(data_dir, database):
    data_dir.mkdir()
    run_script(data_dir, database, "history", VERSION_2)
    with closing(History(data_dir, database)) as history:
        assert {run.id: run.follows for run in history.runs(principal=LOCAL)} == {
            "r": None,
            "s": None,
            "t": "r",
            "u": "t",
        }
        assert history.branch("c").runs == ("r", "t", "u")


def test_a_newer_one_is_refused_and_stays_as_it_is(data_dir):
    History(data_dir).close()
    run_script(data_dir, None, "history", "UPDATE alembic_version SET version_num = '9999'")
    before = (data_dir / FILE).read_bytes()
    with pytest.raises(DataFolderNewer, match="9999"):
        History(data_dir)
    assert (data_dir / FILE).read_bytes() == before


# Events of a newer version


UNKNOWN = [
    '{"kind":"cost_estimated","euros":0.01}',
    '{"kind":"step_started","step":"x"}',
    '{"kind":"run_finished","status":"pending"}',
    "{}",
    "[]",
    "torn",
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_an_event_that_this_version_does_not_know_is_read_as_unknown(text):
    event = from_json(text)
    assert isinstance(event, UnknownEvent)
    assert event.stored == text
    assert from_json(to_json(event)) == event


def test_a_step_with_a_detail_that_this_version_does_not_know_keeps_the_rest():
    known = StepFinished(
        step="reorder", attempt=1, start=0, milliseconds=5, model_calls=0, tokens_in=0, tokens_out=0, verdict="yes"
    )
    step = from_json(to_json(known).replace('"detail":null', '"detail":{"type":"of_tomorrow","order":[3,1]}'))
    assert step == known.model_copy(update={"detail": step.detail})
    assert (step.detail.named, json.loads(step.detail.stored)["order"]) == ("of_tomorrow", [3, 1])


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_run_with_an_unknown_event_is_closed_outlined_and_gone_on_with(history, text):
    conversation = history.conversations.new("?", principal=LOCAL).id
    history.save("r", started(conversation))
    with history.database.begin() as connection:
        connection.execute(events.insert().values(run_id="r", position=1, event=text))
    history.close_interrupted_runs()
    assert history.run("r").status == "failed"
    [outline] = history.outlines(conversation, latest=5)
    assert outline.events[1] == UnknownEvent(named=outline.events[1].named, stored=text)
    assert history.turns(conversation, before="!") == ()


# Damaged files


def damage_by_garbage(file: Path) -> None:
    file.write_bytes(b"This is no database. " * 1000)


def damage_by_truncation(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def damage_within(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"\xaa" * 8192)


@pytest.mark.parametrize("damage", [damage_by_garbage, damage_by_truncation, damage_within])
def test_a_damaged_history_is_set_aside_and_an_empty_one_begins(data_dir, caplog, damage):
    history = History(data_dir)
    conversation = history.conversations.new("?", principal=LOCAL).id
    for number in range(50):
        history.save(f"r{number}", started(conversation, f"r{number}"))
    history.close()
    damage(data_dir / FILE)
    content = (data_dir / FILE).read_bytes()

    with closing(History(data_dir)) as empty:
        assert empty.conversations.listed(principal=LOCAL) == []
        assert empty.set_aside.parent == data_dir
        assert empty.set_aside.read_bytes() == content
        assert empty.set_aside.name in caplog.text
        empty.conversations.new("again", principal=LOCAL)
    with closing(History(data_dir)) as history:
        assert history.set_aside is None
        assert [each.title for each in history.conversations.listed(principal=LOCAL)] == ["again"]


def test_a_history_that_cannot_be_opened_just_now_is_no_damaged_one(data_dir):
    (data_dir / FILE).mkdir(parents=True)
    with pytest.raises(DataFolderUnusable, match="unable to open database file"):
        History(data_dir)
    assert (data_dir / FILE).is_dir()


# Removed documents


def passage(number: int, document_id: str) -> Passage:
    text = f"What {document_id} says."
    return Passage(
        number=number, rank=number, score=1, document_id=document_id, section_id="s", source=f"{document_id}.md",
        title=document_id, headings=("A heading",), page=None, text=text, start=0, end=len(text),
    )  # fmt: skip


def test_strips_of_before_they_named_their_document_go_by_the_numbers_of_its_passages(history):
    strips = [Strip(passage=number, text=f"Strip {number}.", score=1, kept=True) for number in (1, 2)]
    found = RetrievalDetail(query="?", mode="vector", unit="chunk", passages=(passage(1, "gone"), passage(2, "stays")))
    history.save("r", started(history.conversations.new("?", principal=LOCAL).id))
    history.save("r", finished("retrieve", detail=found))
    history.save("r", finished("refine", detail=RefinementDetail(strips=tuple(strips))))
    assert history.redaction.redact(["gone"])
    [_, searched, refined] = history.events("r")
    assert [each.text for each in searched.detail.passages] == ["", "What stays says."]
    assert [each.headings for each in searched.detail.passages] == [(), ("A heading",)]
    assert [each.text for each in refined.detail.strips] == ["", "Strip 2."]


def test_traces_that_do_not_quote_a_removed_document_stay_as_they_were(history):
    conversation = history.conversations.new("?", principal=LOCAL).id
    for run_id in "ab":
        history.save(run_id, started(conversation, run_id))
        found = RetrievalDetail(query="?", mode="vector", unit="chunk", passages=(passage(1, f"of-{run_id}"),))
        history.save(run_id, finished("retrieve", detail=found))
    before = history.events("b")
    assert history.redaction.redact(["of-a"])
    assert history.events("b") == before
    assert history.events("a")[1].detail.passages[0].removed

"""Branches of a conversation with edited questions: their runs, and the context of a follow-up in them."""

import pytest

from index_store.access.principal import LOCAL
from rag.runs.run.run import Run
from tests.helpers.back_doors import process_of
from tests.rag.documents import INDEX


@pytest.fixture
def ask(engine):
    """Asks and waits for the answer."""

    def ask(question: str, after: Run | None = None, **options: str) -> Run:
        conversation = after.conversation_id if after else None
        run = engine.ask(question, index=INDEX, pipeline_name="naive", conversation_id=conversation, **options)
        run.result()
        return run

    return ask


def ids(*runs: Run) -> tuple[str, ...]:
    return tuple(run.id for run in runs)


def branch(engine, run: Run, through: Run | None = None):
    return engine.history.branch(run.conversation_id, through=through and through.id)


def test_questions_follow_each_other_in_one_branch(engine, ask):
    first = ask("日当はいくら?")
    second = ask("宿泊費はいくら?", first)
    assert branch(engine, first).runs == ids(first, second)
    assert branch(engine, first).siblings == {}
    assert [run.follows for run in engine.history.runs(first.conversation_id)] == [None, first.id]


def test_an_edited_question_begins_a_branch_and_the_earlier_one_stays_reachable(engine, ask):
    first = ask("日当はいくら?")
    second = ask("宿泊費はいくら?", first)
    third = ask("交通費はいくら?", second)
    edited = ask("宿泊費の上限はいくら?", first, edits=second.id)
    assert branch(engine, first).runs == ids(first, edited)
    assert branch(engine, first).siblings == {edited.id: ids(second, edited)}
    assert branch(engine, first, through=second).runs == ids(first, second, third)
    assert branch(engine, first, through=second).siblings_of(second.id) == ids(second, edited)
    assert branch(engine, first, through=second).siblings_of(third.id) == ids(third)


def test_the_first_question_can_be_edited_and_an_edited_one_again(engine, ask):
    first = ask("日当はいくら?")
    edited = ask("海外の日当はいくら?", first, edits=first.id)
    again = ask("国内の日当はいくら?", first, edits=edited.id)
    assert branch(engine, first).runs == ids(again)
    assert branch(engine, first).siblings_of(again.id) == ids(first, edited, again)


def test_the_conversation_goes_on_in_the_branch_that_was_asked_in_or_in_one_that_is_named(engine, ask):
    first = ask("日当はいくら?")
    second = ask("宿泊費はいくら?", first)
    edited = ask("宿泊費の上限はいくら?", first, edits=second.id)
    after_edited = ask("交通費はいくら?", first)
    assert branch(engine, first).runs == ids(first, edited, after_edited)
    after_second = ask("食費はいくら?", first, through=second.id)
    assert branch(engine, first).runs == ids(first, second, after_second)
    assert branch(engine, first, through=edited).runs == ids(first, edited, after_edited)


def test_a_follow_up_is_read_against_its_own_branch_alone(engine, ask, chat):
    first = ask("日当はいくら?")
    second = ask("宿泊費はいくら?", first)
    ask("交通費はいくら?", first, edits=second.id)
    ask("それは誰が決めますか?", first)
    [prompt] = [each for each in chat.prompts if "<turn>" in each and "それは誰が決めますか?" in each]
    assert "交通費はいくら?" in prompt
    assert "宿泊費はいくら?" not in prompt
    ask("それは誰が払いますか?", first, edits=first.id)
    assert not [each for each in chat.prompts if "<turn>" in each and "それは誰が払いますか?" in each]


def test_outlines_are_those_of_the_branch_the_last_ones_of_it(engine, ask):
    first = ask("日当はいくら?")
    second = ask("宿泊費はいくら?", first)
    edited = ask("宿泊費の上限はいくら?", first, edits=second.id)
    outlines = engine.history.outlines

    def questions(latest: int, through: Run | None = None) -> list[str]:
        shown = outlines(first.conversation_id, latest, branch=branch(engine, first, through))
        return [outline.run.question for outline in shown]

    assert questions(5) == ["日当はいくら?", "宿泊費の上限はいくら?"]
    assert questions(5, through=second) == ["日当はいくら?", "宿泊費はいくら?"]
    assert questions(1) == ["宿泊費の上限はいくら?"]
    assert edited.id == outlines(first.conversation_id, 1)[0].run.id


def test_a_run_of_another_conversation_names_no_branch_of_this_one(engine, ask):
    first, other = ask("日当はいくら?"), ask("宿泊費はいくら?")
    second = ask("交通費はいくら?", first, through=other.id)
    assert branch(engine, first, through=other).runs == ids(first, second)
    third = ask("食費はいくら?", first, edits=other.id)
    assert branch(engine, first).runs == ids(first, second, third)


def test_a_conversation_without_a_question_has_an_empty_branch(engine):
    conversation = process_of(engine).history.conversations.new("?", principal=LOCAL)
    assert engine.history.branch(conversation.id).runs == ()
    assert engine.history.branch(conversation.id).end is None


def test_a_deleted_conversation_takes_all_its_branches_along(engine, ask):
    first = ask("日当はいくら?")
    edited = ask("海外の日当はいくら?", first, edits=first.id)
    engine.delete_conversation(first.conversation_id)
    assert [engine.history.run(run.id) for run in (first, edited)] == [None, None]

"""What the facades of the engine record in the audit log, with the name of the person who did it."""

import pytest

from index_store.access.audit.audit import EntryFilter
from index_store.access.principal import LOCAL
from rag.errors import NothingOfThisName, UnknownShare
from rag.runs.engine import UserEngine
from rag.runs.history.for_people.shares import NewShare
from rag.runs.run.run import Run
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.local import as_person, grant
from tests.rag.documents import INDEX, QUESTION


def shared_run(person: UserEngine) -> tuple[Run, NewShare]:
    run = person.ask(QUESTION, index=INDEX, pipeline_name="naive")
    run.result()
    return run, person.shares.add(run.id)


@pytest.mark.parametrize("audit_questions", [False, True])
def test_each_question_is_noted_with_index_pipeline_and_tokens_and_its_text_only_where_set_so(opened, audit_questions):
    with opened(audit_questions=audit_questions) as engine:
        grant(engine, INDEX)
        alice = as_person(engine, "alice")
        run = alice.ask(QUESTION, index=INDEX, pipeline_name="naive")
        tokens = run.result().totals.tokens
        audit = process_of(engine).store.access.audit
        [entry] = audit.read(EntryFilter(action="asked")).entries
        assert (entry.person, entry.index) == (person_of(alice).id, INDEX)
        facts = {
            "pipeline": "naive",
            "model": run.events[0].model,
            "tokens": tokens,
            "status": "finished",
            "run": run.id,
        }
        assert entry.facts == facts | ({"question": QUESTION} if audit_questions else {})


def test_a_question_during_which_the_app_died_is_noted_as_failed_at_the_next_start(opened):
    with opened() as engine:
        grant(engine, INDEX)
        alice = as_person(engine, "alice")
        run = alice.ask(QUESTION, index=INDEX, pipeline_name="naive")
        run.result()
        whose, history = person_of(alice), process_of(engine).history
        for run_id, principal in (("hers", whose), ("local", LOCAL)):  # as a dead process leaves them
            conversation = history.conversations.new(QUESTION, principal=principal)
            started = run.events[0].model_copy(update={"run_id": run_id, "conversation_id": conversation.id})
            history.save(run_id, started)
    for _ in range(2):
        with opened() as engine:
            entries = process_of(engine).store.access.audit.read(EntryFilter(action="asked")).entries
            noted = {each.facts["run"]: (each.person, each.index, each.facts["status"]) for each in entries}
            assert len(entries) == 3
            assert noted["hers"] == (whose.id, INDEX, "failed")
            assert noted["local"] == (LOCAL.id, INDEX, "failed")


def test_links_and_deletions_are_noted_and_never_what_opens_a_link(opened):
    with opened() as engine:
        grant(engine, INDEX)
        alice = as_person(engine, "alice")
        run, share = shared_run(alice)
        alice.shares.revoke(share.share.id)
        alice.delete_conversation(run.conversation_id)
        entries = engine.store.access.audit.read(EntryFilter(person="alice")).entries
        assert [each.action for each in entries[:3]] == ["conversation_deleted", "share_revoked", "shared"]
        assert entries[2].facts == {"kind": "run", "what": run.id, "share": share.share.id}
        assert share.token not in str(entries)


def test_a_link_is_noted_as_revoked_once_and_only_by_someone_who_could_revoke_it(opened):
    with opened() as engine:
        grant(engine, INDEX)
        alice, bob = as_person(engine, "alice"), as_person(engine, "bob")
        _, share = shared_run(alice)
        for someone in (bob, alice, alice):
            someone.shares.revoke(share.share.id)
        alice.shares.revoke("none")
        entries = process_of(engine).store.access.audit.read(EntryFilter(action="share_revoked")).entries
        assert [each.person for each in entries] == [person_of(alice).id]


def test_files_and_openings_of_a_link_are_noted_and_what_is_refused_or_looked_at_again_is_not(opened):
    with opened() as engine:
        grant(engine, INDEX)
        alice, bob = as_person(engine, "alice"), as_person(engine, "bob")
        run, share = shared_run(alice)
        with pytest.raises(NothingOfThisName):
            bob.exports.gather(run.id, "json")
        with pytest.raises(UnknownShare):
            bob.shares.shared("none")
        alice.exports.gather(run.conversation_id, "markdown")
        bob.shares.shared(share.token)
        bob.shares.shared(share.token, again=True).events(run.id)
        entries = process_of(engine).store.access.audit.read(latest=2).entries
        whose = person_of(alice).id
        assert [(each.action, each.person, each.facts) for each in entries] == [
            (
                "share_opened",
                person_of(bob).id,
                {"kind": "run", "what": run.id, "share": share.share.id, "whose": whose},
            ),
            ("exported", whose, {"kind": "conversation", "what": run.conversation_id, "form": "markdown", "runs": 1}),
        ]
        assert share.token not in str(entries)

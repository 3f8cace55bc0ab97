"""'Delete my data': it removes the data of one person from every file, and no data of anybody else."""

import sqlite3
import zipfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from index_store.access.audit.audit import FOLDER, EntryFilter
from index_store.access.grants import Grantee, GranteeKind
from index_store.access.principal import Role
from index_store.access.rights import Right
from index_store.base.errors import AdminNeeded, LastAdmin, UnknownIndex, UnknownPerson
from index_store.ingestion.sources import FileSource, keep_upload
from index_store.store.lifecycle import Lifecycle
from rag.errors import UnknownShare
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import LeaveOut
from rag.runs.history.daily_usage import today
from rag.runs.retention.personal_data import PersonalDataSummary
from rag.runs.run.options import RunOptions
from rag.runs.run.run import Run
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.local import as_person, grant
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX
from tests.rag.scripted import Gate, Held

SECRET = "金庫の暗証番号は八八四一ですか?"
OTHERS = "出張の日当はいくらですか?"


def ask(engine: UserEngine, question: str = SECRET) -> Run:
    run = engine.ask(question, index=INDEX, pipeline_name="naive")
    run.result()
    return run


def holds(folder: Path, words: str, *, audit: bool = False) -> list[str]:
    """The files that contain `words`. `audit`: looks into the audit log too.

    Files of Chroma's vectors are not searched: they reserve space for more vectors, and this space contains whatever
    was in the memory of this process.
    """
    files = [each for each in folder.rglob("*") if each.is_file() and each.name != "data_level0.bin"]
    return [
        each.name for each in files if (audit or each.parent.name != FOLDER) and words.encode() in each.read_bytes()
    ]


def test_conversations_with_all_that_hangs_on_them_are_in_no_file_and_others_stay(opened, loaded):
    with opened() as engine:
        grant(engine, INDEX)
        alice, bob = as_person(engine, "alice"), as_person(engine, "bob")
        run, others = ask(alice), ask(bob, OTHERS)
        alice.history.rate(run.id, 1)
        alice.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=1)]).result()
        compared = alice.comparisons.begin(SECRET, INDEX, (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid")))
        for run_id in compared.run_ids:
            alice.run(run_id).result()
        alice.comparisons.vote(compared.id, compared.run_ids[0])
        token = alice.shares.add(run.id).token
        bobs = bob.shares.add(others.id).token
        for name in ("history.version-0001.sqlite3", "catalogue.version-0002.sqlite3", "history.damaged-1.sqlite3"):
            (loaded / name).write_text(SECRET)
        assert holds(loaded, SECRET)

        assert alice.personal_data.of() == PersonalDataSummary(3, (), ())
        assert alice.personal_data.delete() == PersonalDataSummary(3, (), ())

        assert alice.history.runs() == []
        with pytest.raises(UnknownShare):
            bob.shares.shared(token)
        assert [each.id for each in bob.history.runs()] == [others.id]
        assert bob.shares.shared(bobs).runs[0].id == others.id
        assert alice.personal_data.of() == PersonalDataSummary(0, (), ())
        assert holds(loaded, SECRET) == []
        with closing(sqlite3.connect(loaded / "checkpoints.sqlite3")) as connection:
            kept = {row[0] for row in connection.execute("SELECT thread_id FROM checkpoints")}
        assert kept == {others.id}
    assert holds(loaded, SECRET) == []


def test_an_index_goes_that_is_theirs_alone_and_one_that_others_may_use_is_nobodys(opened, loaded, tmp_path):
    secret, shared = tmp_path / "secret.md", tmp_path / "shared.md"
    secret.write_text("# 金庫\n\n" + "## 節\n\n暗証番号は八八四一です。\n\n" * 60, encoding="utf-8")
    shared.write_text("# 日当\n\n日当は1日2,500円です。", encoding="utf-8")
    with opened() as engine:
        alice, bob = as_person(engine, "alice", Role.EDITOR), as_person(engine, "bob")
        alice.store.ingest("hers", [FileSource(secret)]).wait()
        alice.store.ingest("for bob", [FileSource(shared)]).wait()
        alice.store.access.grants.give("for bob", Grantee(GranteeKind.PERSON, person_of(bob).id), Right.READ)
    with opened() as engine:  # reopened: the data is now in the files, not in their logs
        alice, bob = as_person(engine, "alice", Role.EDITOR), as_person(engine, "bob")
        [document] = alice.store.documents("hers")
        assert alice.personal_data.of() == PersonalDataSummary(0, ("hers",), ("for bob",))
        alice.personal_data.delete()

        root = as_person(engine, "root", Role.ADMIN)
        assert {each.name for each in root.store.indexes()} == {INDEX, "for bob"}
        with pytest.raises(UnknownIndex):
            root.store.documents("hers")
        assert root.store.access.grants.of("for bob").owner is None
        assert [each.title for each in bob.store.documents("for bob")] == ["日当"]
        assert not list((loaded / "originals").glob(f"??/{document.id}-*"))
        assert list(engine.store.check()) == []
        assert holds(loaded, "暗証番号は八八四一です") == []


@pytest.mark.soak
def test_an_index_that_another_app_deletes_at_the_same_moment_does_not_end_the_deletion(opened, monkeypatch):
    delete = Lifecycle.delete

    def twice(*how: Any) -> None:
        delete(*how)
        delete(*how)

    monkeypatch.setattr(Lifecycle, "delete", twice)
    with opened() as engine:
        grant(engine, INDEX)
        alice = as_person(engine, "alice", Role.EDITOR)
        alice.store.create_index("hers")
        ask(alice)
        alice.personal_data.delete()
        assert alice.personal_data.of() == PersonalDataSummary(0, (), ())
        assert alice.history.runs() == []


def test_an_index_of_somebody_else_that_has_just_taken_the_name_stays(opened, monkeypatch):
    with opened() as engine:
        alice, bob = as_person(engine, "alice", Role.EDITOR), as_person(engine, "bob", Role.EDITOR)
        alice.store.create_index("notes")
        grants = process_of(engine).store.access.grants
        before = grants.all()
        alice.store.delete_index("notes")
        bob.store.create_index("notes")
        monkeypatch.setattr(grants, "all", lambda: before)
        alice.personal_data.delete()
        assert [each.name for each in bob.store.indexes()] == ["notes"]


def test_what_is_being_added_or_answered_is_stopped(opened, chat, tmp_path):
    gate = Gate()
    chat.answer_when("八八四一", answer=Held(gate, "はい。"))
    with opened() as engine:
        grant(engine, INDEX, Right.WRITE)
        alice = as_person(engine, "alice", Role.EDITOR)
        run = alice.ask(SECRET, index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        archive = tmp_path / "many.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for number in range(200):
                packed.writestr(f"{number}.md", f"# {number}\n\n" + "Words of hers. " * 200)
        job = alice.store.ingest(INDEX, [FileSource(archive)])
        alice.personal_data.delete()
        assert run.result().status == "stopped"
        assert job.is_cancelled
        assert alice.store.ingestions == ()
        assert alice.history.runs() == []
        gate.open()


def test_a_file_of_a_question_that_still_waits_is_not_added_after_the_deletion(opened, loaded, chat, tmp_path):
    gate = Gate()
    chat.answer_when("日当", answer=Held(gate, "2,500円です。[1]"))
    rates, code = tmp_path / "rates.md", tmp_path / "code.md"
    rates.write_text("# 日当\n\n日当は1日2,500円です。", encoding="utf-8")
    code.write_text("# 金庫\n\n暗証番号は八八四一です。", encoding="utf-8")
    with opened(runs_at_once=1) as engine:
        grant(engine, INDEX)
        alice, bob = as_person(engine, "alice", Role.EDITOR), as_person(engine, "bob")
        alice.store.ingest("hers", [FileSource(rates)]).wait()
        others = bob.ask(OTHERS, index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        with code.open("rb") as content:
            attached = keep_upload(loaded, code.name, content)
        waiting = alice.ask(SECRET, index="hers", pipeline_name="naive", attachments=[attached])
        assert eventually(lambda: waiting.before == 1)
        alice.personal_data.delete()
        assert waiting.result().status == "stopped"
        assert alice.store.ingestions == ()
        assert [each.name for each in alice.store.indexes()] == [INDEX]
        assert holds(loaded, "八八四一") == []
        gate.open()
        assert others.result().status == "finished"


def test_an_admin_may_do_it_for_somebody_and_nobody_else_may(opened):
    with opened() as engine:
        grant(engine, INDEX)
        alice, bob, root = (as_person(engine, name) for name in ("alice", "bob", "root"))
        root = as_person(engine, "root", Role.ADMIN)
        ask(alice)
        id_ = person_of(alice).id
        for asked in (bob.personal_data.of, bob.personal_data.delete):
            with pytest.raises(AdminNeeded):
                asked(id_)
        assert root.personal_data.of(id_).conversations == 1
        assert root.personal_data.delete(id_).conversations == 1
        assert alice.history.runs() == []
        with pytest.raises(UnknownPerson):
            root.personal_data.delete("nobody")
        audit = process_of(engine).store.access.audit
        [entry] = audit.read(EntryFilter(action="data_deleted")).entries
        assert (entry.person, entry.facts) == (
            person_of(root).id,
            {"whose": id_, "conversations": 1, "deleted": [], "left": []},
        )


def test_an_admin_erases_somebody_whole_and_what_the_command_line_has_erased_goes_with_the_next_start(opened, loaded):
    with opened() as engine:
        grant(engine, INDEX)
        alice, bob = as_person(engine, "alice", Role.EDITOR), as_person(engine, "bob")
        root = as_person(engine, "root", Role.ADMIN)
        for someone in (alice, bob):
            ask(someone)
        alice.store.create_index("hers")
        token, id_ = alice.shares.add(alice.history.runs()[0].id).token, person_of(alice).id
        with pytest.raises(AdminNeeded):
            bob.personal_data.erase(id_)
        assert root.personal_data.erase(id_) == PersonalDataSummary(1, ("hers",), ())
        with pytest.raises(UnknownShare):
            bob.shares.shared(token)
        with pytest.raises(LastAdmin):
            root.personal_data.erase(person_of(root).id)
        assert [each.name for each in root.store.access.people.all()] == ["bob", "root"]
        assert [each.name for each in root.store.indexes()] == [INDEX]
        assert [run.question for run in bob.history.runs()] == [SECRET]
        done = root.store.access.audit.read(latest=3).entries
        assert [each.action for each in done] == ["data_deleted", "index_deleted", "erased"]
        assert holds(loaded, "alice", audit=True) == []
        process_of(engine).store.access.people.erase(person_of(bob).id)
    assert holds(loaded, SECRET)
    with opened():
        assert eventually(lambda: not holds(loaded, SECRET))


def test_of_whom_the_command_line_has_erased_the_counts_of_each_day_go_too(opened):
    with opened() as engine:
        alice = as_person(engine, "alice")
        id_ = person_of(alice).id
        usage = process_of(engine).usage
        usage.add(id_, today() - timedelta(days=1), tokens=5)
        process_of(engine).store.access.people.erase(id_)
        assert [each.person_id for each in usage.by_person()] == [id_]
    with opened() as engine:
        assert eventually(lambda: not process_of(engine).usage.by_person())


def test_where_nobody_signs_in_conversations_go_and_indexes_stay(opened):
    with opened() as engine:
        ask(engine)
        assert engine.personal_data.delete() == PersonalDataSummary(1, (), ())
        assert engine.history.runs() == []
        assert [each.name for each in engine.store.indexes()] == [INDEX]

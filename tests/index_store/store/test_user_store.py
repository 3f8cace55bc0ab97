"""Several people use one store: what belongs to whom, and what happens if two people change the same index at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy.exc import OperationalError

from index_store.access.access import open_access
from index_store.access.grants import EVERYONE
from index_store.access.principal import Principal
from index_store.access.rights import Right
from index_store.base import errors
from index_store.base.folders import changes_of
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import DocumentStatus
from index_store.ingestion.job import Ingestion
from index_store.ingestion.jobs import JobsOfProcess
from index_store.ingestion.sources import FileSource, keep_upload
from index_store.store.index_store import IndexStore
from index_store.store.store import FINISHED
from tests.helpers.threads import is_under_way
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.soundness import assert_sound, originals
from tests.index_store.team import People, people_of

Write = Callable[..., Path]

READ, WRITE, MANAGE = Right


@pytest.fixture
def people(serviced: Settings) -> Iterator[People]:
    with people_of(serviced) as people:
        yield people


@pytest.fixture
def shared(people: People, write: Write) -> People:
    """Anna owns the index “plans” with three documents. Ben may manage it, Cara may write, and Dora may read."""
    people("anna").create_index("plans")
    people.give("plans", ben=MANAGE, cara=WRITE, dora_reader=READ)
    sources = [FileSource(write(f"{name}.md", sections=3)) for name in ("apples", "bananas", "cherries")]
    people("anna").ingest("plans", sources).wait()
    return people


def names(store: IndexStore) -> list[str]:
    return [index.name for index in store.indexes()]


def at_once(*calls: Callable[[], object]) -> list[type[Exception] | None]:
    """Makes the calls at the same time. Returns for each the type of its error, or None."""
    together = Barrier(len(calls))

    def attempt(call: Callable[[], object]) -> type[Exception] | None:
        together.wait()
        try:
            call()
        except errors.PlainError as error:
            return type(error)
        return None

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(attempt, calls))


# Owners and readers


def test_the_owner_of_an_index_is_the_person_who_created_it(people: People, write: Write) -> None:
    people("anna").create_index("made")
    people("anna").ingest("given", [FileSource(write("a.md"))]).wait()
    people("anna").add("added", write("a.md"))
    people.store.create_index("local")
    owners = {each.index: each.owner for each in people.store.access.grants.all()}
    assert owners == {"made": people.id("anna"), "given": people.id("anna"), "added": people.id("anna"), "local": None}
    people("anna").delete_index("made")
    assert [index.name for index in people("ben").indexes()] == []


def test_a_reader_cannot_create_an_index_nor_learn_which_ones_exist(people: People, write: Write) -> None:
    people("anna").create_index("secret")
    reader = people("some reader")
    for name in ("secret", "new"):
        with pytest.raises(errors.EditorNeeded):
            reader.create_index(name)
        with pytest.raises(errors.EmptyIndex):
            reader.ingest(name, [FileSource(write("a.md"))])
        with pytest.raises(errors.EmptyIndex):
            reader.add(name, write("a.md"))
    assert names(people.store) == ["secret"]


def test_of_unknown_indexes_each_is_told_what_they_may_read_and_nothing_else(shared: People) -> None:
    shared.store.create_index("board")
    shared.store.create_index("lobby")
    shared.store.access.grants.give("lobby", EVERYONE, READ)
    known = {"anna": "lobby, plans", "dora_reader": "lobby, plans", "stranger": "lobby", "root": "board, lobby, plans"}
    for who, readable in known.items():
        with pytest.raises(errors.UnknownIndex) as unknown:
            shared(who).documents("none")
        assert unknown.value.details["known"] == readable


def test_uploads_that_are_refused_are_not_kept(shared: People, serviced: Settings, write: Write) -> None:
    for who in ("dora_reader", "some reader"):
        with write("up.md").open("rb") as content:
            upload = keep_upload(serviced.data_dir, "up.md", content)
        with pytest.raises(errors.PlainError):
            shared(who).ingest("plans", [upload])
    assert_sound(shared.store, serviced.data_dir)


def test_uploads_are_not_kept_when_the_person_cannot_be_looked_up(
    shared: People, serviced: Settings, write: Write
) -> None:
    def unknown() -> Principal:
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    with write("up.md").open("rb") as content:
        upload = keep_upload(serviced.data_dir, "up.md", content)
    with pytest.raises(OperationalError):
        shared.store.as_user(unknown).ingest("plans", [upload])
    assert not upload.path.exists()


def test_each_sees_and_finds_the_documents_of_the_indexes_that_they_may_read(shared: People, write: Write) -> None:
    shared("ben").add("own", write("bens.md", words="of Ben alone"))
    sources = {who: {Path(each.source).name for each in shared(who).documents()} for who in ("anna", "ben", "eve")}
    plans = {"apples.md", "bananas.md", "cherries.md"}
    assert sources == {"anna": plans, "ben": {*plans, "bens.md"}, "eve": set()}
    [bens] = shared("ben").documents("own")
    # Not through another index that she may read, either.
    assert shared("anna").search("plans", "Ben alone", mode="hybrid", document_ids=[bens.id]) == []
    shared("anna").retry("plans", [bens.id]).wait()
    shared("anna").remove_documents([bens.id])
    with pytest.raises(errors.UnknownDocument):
        shared("anna").remove("plans", bens.source)
    assert shared("ben").documents("own") == [bens]


def test_who_may_not_remove_one_of_several_documents_removes_none(shared: People, write: Write) -> None:
    shared("ben").add("own", write("bens.md"))
    shared.give("own", cara=READ)
    everywhere = [each.id for each in shared("cara").documents()]
    with pytest.raises(errors.RightMissing, match="own"):
        shared("cara").remove_documents(everywhere)
    assert len(shared("cara").documents()) == 4


# Jobs


def test_the_right_to_add_is_checked_when_the_job_starts_to_write(
    shared: People, serviced: Settings, write: Write
) -> None:
    """A right that was taken away after the click no longer counts."""
    with ThreadPoolExecutor() as threads, changes_of(serviced.data_dir):  # locked as for a backup
        threads.submit(shared("root").create_index, "another")  # all who open an index wait for this call
        assert eventually(shared.store._parts.lifecycle._naming.locked)
        job = shared("cara").ingest("plans", [FileSource(write("late.md"))])
        shared("anna").access.grants.take("plans", shared.grantee("cara"))
    job.wait()
    assert isinstance(job.failure, errors.EmptyIndex)
    assert len(shared.store.documents("plans")) == 3
    assert names(shared.store) == ["another", "plans"]


def test_two_who_add_to_a_new_index_at_once_do_not_share_it(people: People, write: Write) -> None:
    files = {who: write(f"{who}.md") for who in ("anna", "ben")}
    jobs = {}

    def begin(who: str) -> None:
        jobs[who] = people(who).ingest("new", [FileSource(files[who])])

    assert at_once(lambda: begin("anna"), lambda: begin("ben")) == [None, None]
    failures = {who: (job.wait(), job.failure)[1] for who, job in jobs.items()}
    [owner] = [who for who, failure in failures.items() if failure is None]
    [other] = {"anna", "ben"} - {owner}
    assert isinstance(failures[other], errors.IndexExists)
    assert [Path(each.source).name for each in people(owner).documents("new")] == [f"{owner}.md"]
    assert people.store.access.grants.of("new").owner == people.id(owner)
    assert people(other).indexes() == []


@pytest.mark.usefixtures("impatient")
def test_a_job_of_a_person_who_is_disabled_ends_as_if_cancelled_and_those_of_others_go_on(
    shared: People, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    theirs = shared("cara").ingest("plans", [FileSource(write("caras.md"))])
    others = shared("ben").ingest("plans", [FileSource(write("bens.md"))])
    assert eventually(lambda: len(shared.store.documents("plans")) == 5)
    seen = next(each for each in shared.store.ingestions if each == theirs)
    with open_access(serviced) as access:  # like the command line in another process
        access.people.disable(shared.id("cara"))
    assert eventually(lambda: seen.is_finished)
    assert seen.is_cancelled
    with pytest.raises(errors.AccessWithdrawn):
        theirs.cancel()
    service.is_held = False
    assert [each.status.value for each in others.wait()] == ["ready"]
    assert "caras.md" not in {Path(each.source).name for each in shared.store.documents()}
    assert_sound(shared.store, serviced.data_dir)


@pytest.mark.usefixtures("impatient")
def test_what_a_process_left_pending_goes_on_though_whoever_began_it_is_disabled_since(
    serviced: Settings, service: EmbeddingService, write: Write
) -> None:
    with people_of(serviced) as people:
        service.is_held = True
        people("anna").ingest("plans", [FileSource(write("a.md"))])
        assert eventually(lambda: people.store.documents())
    service.is_held = False
    with open_access(serviced) as access:  # a process that still runs would cancel the job
        access.people.disable(people.id("anna"))
    with people_of(serviced) as people:
        [job] = people.store.resume()
        assert [each.status.value for each in job.wait()] == ["ready"]
        assert people("ben").ingestions == ()
        people.store.access.people.enable(people.id("anna"))
        assert people("anna").ingestions == (job,)


# Two people and one index


def test_of_two_who_delete_an_index_one_does_and_the_other_finds_it_gone(shared: People, serviced: Settings) -> None:
    met = at_once(lambda: shared("anna").delete_index("plans"), lambda: shared("ben").delete_index("plans"))
    assert sorted(met, key=str) == [errors.EmptyIndex, None]
    assert names(shared.store) == []
    assert originals(serviced.data_dir) == []
    assert_sound(shared.store, serviced.data_dir)


def test_of_two_who_rename_an_index_the_later_name_stays_with_all_that_is_in_it(
    shared: People, serviced: Settings
) -> None:
    met = at_once(
        lambda: shared("anna").rename_index("plans", "Anna's"), lambda: shared("ben").rename_index("plans", "Ben's")
    )
    assert set(met) <= {None, errors.UnknownIndex, errors.EmptyIndex}
    assert None in met
    [name] = names(shared.store)
    assert name in ("Anna's", "Ben's")
    assert len(shared("dora_reader").documents(name)) == 3
    assert shared.store.access.grants.of(name).owner == shared.id("anna")
    assert_sound(shared.store, serviced.data_dir)


@pytest.mark.soak  # two who rename one index: above
def test_of_two_indexes_that_are_to_have_one_name_one_gets_it(shared: People) -> None:
    shared("ben").create_index("drafts")
    met = at_once(
        lambda: shared("anna").rename_index("plans", "final"), lambda: shared("ben").rename_index("drafts", "final")
    )
    assert sorted(met, key=str) == [errors.IndexExists, None]
    assert len(names(shared.store)) == 2


@pytest.mark.soak  # two who delete it, and two who rename it: above
def test_an_index_that_one_renames_while_another_deletes_it_is_gone(shared: People, serviced: Settings) -> None:
    deleted, renamed = at_once(
        lambda: shared("anna").delete_index("plans"), lambda: shared("ben").rename_index("plans", "kept")
    )
    if deleted is not None:  # it already had the other name
        assert (deleted, renamed) == (errors.UnknownIndex, None)
        shared("anna").delete_index("kept")
    assert renamed in (None, errors.EmptyIndex)
    assert names(shared.store) == []
    assert_sound(shared.store, serviced.data_dir)


def test_an_index_that_two_re_index_by_another_model_at_once_has_every_document_once(
    shared: People, serviced: Settings, service: EmbeddingService
) -> None:
    ids = {name: shared.id(name) for name in ("anna", "cara")}
    shared.store.close()
    changed = serviced.model_copy(update={"embedding_model": "model-b"})
    with IndexStore(changed) as store:
        facades = [store.as_user(lambda id_=id_: store.access.principal(id_)) for id_ in ids.values()]
        asked = len(service.requests)
        service.is_held = True
        with ThreadPoolExecutor() as threads:
            both = threads.submit(
                at_once, *[lambda facade=facade: facade.reindex("plans").wait() for facade in facades]
            )
            service.wait_for_requests(asked + 2)  # both have seen the old state of the index
            service.is_held = False
            assert both.result() == [None, None]
        assert {each.status for each in store.documents("plans")} == {DocumentStatus.READY}
        assert store.search("plans", "What does the file of bananas say?", k=1)[0].source.endswith("bananas.md")
        assert_sound(store, serviced.data_dir)


def test_what_one_re_indexes_while_another_deletes_it_is_gone_and_does_not_come_back(
    shared: People, serviced: Settings, service: EmbeddingService
) -> None:
    service.is_held, service.passes = True, 1
    job = shared("cara").reindex("plans")
    asked = len(service.requests)
    with ThreadPoolExecutor() as threads:
        late = threads.submit(shared("ben").reindex, "plans")
        service.wait_for_requests(asked + 1)  # `late` has seen the index
        shared("anna").delete_index("plans")
        assert job.is_cancelled
        service.is_held = False
        assert isinstance(late.exception(), errors.EmptyIndex)
    assert names(shared.store) == []
    assert_sound(shared.store, serviced.data_dir)


def test_nothing_is_added_to_an_index_that_is_being_deleted_and_it_is_not_made_anew_by_that(
    shared: People, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held, asked = True, len(service.requests)
    before = shared("cara").ingest("plans", [FileSource(write("before.md"))])
    service.wait_for_requests(asked + 1)
    with ThreadPoolExecutor() as threads:
        with changes_of(serviced.data_dir):  # locked as for a backup: the deletion has to wait
            deleting = threads.submit(shared("anna").delete_index, "plans")
            assert eventually(lambda: before.is_cancelled)
            service.is_held = False
            late = shared("ben").ingest("plans", [FileSource(write("late.md"))])
            late.wait()
            assert isinstance(late.failure, errors.EmptyIndex)
            for change in (
                lambda: shared("ben").delete_index("plans"),
                lambda: shared("ben").rename_index("plans", "kept"),
            ):
                with pytest.raises(errors.EmptyIndex):
                    change()
        deleting.result()
    assert names(shared.store) == []
    assert_sound(shared.store, serviced.data_dir)


@pytest.mark.soak  # a moment later: above
def test_an_index_is_deleted_while_another_person_is_just_beginning_to_add_to_it(
    shared: People, serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread of the person who adds is paused between two steps: the job is listed and not started."""
    start, deleting = Ingestion.start, []
    with ThreadPoolExecutor() as threads:

        def start_late(job: Ingestion) -> None:
            deleting.append(threads.submit(shared("anna").delete_index, "plans"))
            assert eventually(lambda: is_under_way(JobsOfProcess.all))  # it waits for the job
            start(job)

        monkeypatch.setattr(Ingestion, "start", start_late)
        job = shared("cara").ingest("plans", [FileSource(write("late.md"))])
        deleting[0].result()
    assert job.is_finished
    assert names(shared.store) == []
    assert_sound(shared.store, serviced.data_dir)


def test_a_document_that_one_removes_while_another_adds_it_anew_is_there_whole_or_not_at_all(
    shared: People, serviced: Settings, write: Write
) -> None:
    [apples] = [each for each in shared("anna").documents("plans") if each.source.endswith("apples.md")]
    newer = write("apples.md", sections=5)
    job = {}

    def add() -> None:
        job["of"] = shared("cara").ingest("plans", [FileSource(newer)])

    assert at_once(add, lambda: shared("ben").remove_documents([apples.id])) == [None, None]
    job["of"].wait()
    left = [each for each in shared("anna").documents("plans") if each.source.endswith("apples.md")]
    assert [(each.status, each.chunks) for each in left] in ([], [(DocumentStatus.READY, 5)])
    assert_sound(shared.store, serviced.data_dir)


def test_a_grant_goes_to_the_index_that_has_the_name_when_it_is_given_and_to_no_other(shared: People) -> None:
    """Two people grant and delete at the same time. A new index with the same name does not have the grant."""
    anna, ben = shared("anna"), shared("ben")
    met = at_once(lambda: anna.delete_index("plans"), lambda: ben.access.grants.give("plans", EVERYONE, READ))
    assert met[0] is None
    assert met[1] in (None, errors.EmptyIndex)
    shared("cara").create_index("plans")
    assert shared.store.access.grants.of("plans").grants == ()
    assert shared("eve").indexes() == []


def test_of_jobs_that_nobody_dismisses_the_latest_of_each_person_stay(shared: People) -> None:
    """Each is asked for its state whenever a page is drawn."""
    [first] = shared("anna").ingestions
    of_cara = shared("cara").ingest("plans", [])
    jobs = [shared("anna").ingest("plans", []) for _ in range(FINISHED + 3) if of_cara.wait() == ()]
    for each in jobs:
        each.wait()
    last = shared("anna").ingest("plans", [])
    last.wait()
    assert shared("anna").ingestions == (of_cara, *jobs[-FINISHED:], last)
    assert first.is_finished
    assert len(first.results) == 3

"""Who may call each public method of the store. A new method that is not listed here makes a test fail."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from index_store.access.audit.audit import EntryFilter
from index_store.access.grants import EVERYONE, Grantee
from index_store.access.limits import GroupLimits
from index_store.access.principal import LOCAL, Role
from index_store.access.rights import GranteeKind, Right
from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.full_text.analysis import Analysis
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.store.user_ingestion import UserIngestion
from index_store.store.user_store import UserStore
from tests.index_store.team import People, people_of

READ, WRITE, MANAGE = Right

OF_THE_PROCESS = {
    "as_user": "makes the facade",
    "close": "the process ends",
    "resume": "continues jobs that were authorized when they were added",
    "replicas": "continues such jobs of other apps",
    "take_over": "continues such jobs of other apps",
    "unfinished": "lists deletions that were authorized when they began",
    "finish": "completes such deletions",
    "watch_removals": "the history redacts quotes of removed documents, of all people",
    "removed": "the history redacts quotes of removed documents, of all people",
    "forget_removed": "the history redacts quotes of removed documents, of all people",
    "access.as_user": "makes the facade",
    "access.close": "the process ends",
    "access.gate": "makes the facade",
    "access.principal": "the gate identifies a person by it",
    "access.rights.all": "the gate checks rights by it",
    "access.rights.named": "the gate checks rights by it",
    "access.rights.of_document": "the gate checks rights by it",
    "access.rights.of_section": "the gate checks rights by it",
    "access.rights.with_id": "the gate checks rights by it",
    "access.sign_ins.begin": "the sign-in calls it",
    "access.sign_ins.end": "the sign-in calls it",
    "access.sign_ins.person_id": "the sign-in calls it",
    "access.people.close": "the process ends",
    "access.people.current": "the sign-in identifies a person by it",
    "access.people.id_of": "the sign-in identifies a person by it",
    "access.people.erased": "lists erased people, whose data may still have to be deleted",
    "access.people.is_disabled": "the facade of shares checks by it whether a link is valid",
    "access.people.known": "the gate identifies a person by it",
    "access.people.signed_in": "the sign-in calls it",
    "access.signed_in": "the sign-in calls it",
    "access.signed_out": "the sign-in calls it",
    "access.limits.of": "runs and jobs read limits by it",
    "access.limits.of_index": "runs and jobs read limits by it",
    "access.audit.note": "the facades call it, in the name of their person",
    "access.audit.sweep": "deletes entries after AUDIT_DAYS, of all people",
    "answering": "runs call it; UserEngine has authorized them",
    "owned_by": "rag/runs/retention/personal_data.py calls it; its facade authorizes the call",
    "delete_owned_by": "rag/runs/retention/personal_data.py calls it; its facade authorizes the call",
    "cancel_jobs_of": "rag/runs/retention/personal_data.py calls it; its facade authorizes the call",
}
"""public names of the store that the facade does not have: who calls them"""


def surface(of: object, path: str = "") -> set[str]:
    """Paths of public methods and properties, also of those of public attributes that have a class of ours."""
    found = set()
    for name in {*dir(type(of)), *vars(of)}:
        if name.startswith("_"):
            continue
        static = inspect.getattr_static(of, name)
        if callable(static) or isinstance(static, property | classmethod | staticmethod):
            found.add(path + name)
        elif type(static).__module__.startswith("index_store."):
            found |= surface(static, f"{path}{name}.")
    return found


class Target(NamedTuple):
    """What the calls are made on."""

    index: str
    index_id: str
    document: str
    section: str
    file: Path
    """the file of another document"""
    analysis: Analysis
    """the analysis of a question, which belongs to nobody"""
    job: UserIngestion
    """the job as the person who began it sees it"""
    person: str


ADMIN = "admin"
ANYBODY = "anybody"

Call = Callable[[UserStore, Target], object]


# In an order in which each call finds what it needs: calls that delete come last.
CALLS: dict[str, tuple[Right | str, Call]] = {
    "indexes": (ANYBODY, lambda store, on: [each for each in store.indexes() if each.name == on.index]),
    "ingestions": (ANYBODY, lambda store, on: [each for each in store.ingestions if each.index == on.index]),
    "dismiss": (ANYBODY, lambda store, on: store.dismiss(on.job)),
    "trouble": (ANYBODY, lambda store, on: store.trouble is None),
    "may_create_indexes": (ANYBODY, lambda store, on: store.may_create_indexes),
    "free_name": (ANYBODY, lambda store, on: store.free_name("lobby")),
    "adds_documents": (ANYBODY, lambda store, on: store.adds_documents),
    "load_embeddings": (ANYBODY, lambda store, on: store.load_embeddings()),
    "index_name": (READ, lambda store, on: store.index_name(on.index_id)),
    "right": (READ, lambda store, on: store.right(on.index)),
    "documents": (READ, lambda store, on: store.documents(on.index)),
    "document": (READ, lambda store, on: store.document(on.document)),
    "sections": (READ, lambda store, on: store.sections(on.document)),
    "chunks": (READ, lambda store, on: store.chunks(on.document)),
    "section": (READ, lambda store, on: store.section(on.section)),
    "original": (READ, lambda store, on: store.original(on.document)),
    "sites": (READ, lambda store, on: store.sites(on.index)),
    "search": (READ, lambda store, on: store.search(on.index, "What does it say of apples?")),
    "survey": (READ, lambda store, on: store.survey(on.index, "What does it say of apples?", k=3)),
    "pending": (READ, lambda store, on: store.pending(on.index)),
    "analyse": (READ, lambda store, on: store.analyse(on.index, "apples")),
    "matcher": (READ, lambda store, on: store.matcher(on.index, on.analysis)("apples")),
    "count_words": (READ, lambda store, on: store.count_words(on.index, on.analysis)),
    "glossary": (READ, lambda store, on: store.glossary(on.index)),
    "set_glossary": (WRITE, lambda store, on: store.set_glossary(on.index, "red apples")),
    "ingest": (WRITE, lambda store, on: store.ingest(on.index, [FileSource(on.file)]).wait()),
    "add": (WRITE, lambda store, on: store.add(on.index, on.file)),
    "retry": (WRITE, lambda store, on: store.retry(on.index, [on.document]).wait()),
    "reindex": (WRITE, lambda store, on: store.reindex(on.index).wait()),
    "remove": (WRITE, lambda store, on: store.remove(on.index, str(on.file))),
    "remove_documents": (WRITE, lambda store, on: store.remove_documents([on.document])),
    "access.grants.of": (MANAGE, lambda store, on: store.access.grants.of(on.index)),
    "access.grants.give": (MANAGE, lambda store, on: store.access.grants.give(on.index, EVERYONE, READ)),
    "access.grants.take": (MANAGE, lambda store, on: store.access.grants.take(on.index, EVERYONE)),
    "rename_index": (MANAGE, lambda store, on: store.rename_index(on.index, on.index)),
    "access.grants.set_owner": (MANAGE, lambda store, on: store.access.grants.set_owner(on.index, None)),
    "delete_index": (MANAGE, lambda store, on: store.delete_index(on.index)),
    "create_index": (ANYBODY, lambda store, on: store.create_index(f"another than {on.index}")),
    "check": (ADMIN, lambda store, on: store.check()),
    "access.grants.all": (ADMIN, lambda store, on: store.access.grants.all()),
    "index_sizes": (ADMIN, lambda store, on: store.index_sizes()),
    "access.audit.is_kept": (ADMIN, lambda store, on: store.access.audit.is_kept),
    "access.audit.lost": (ADMIN, lambda store, on: store.access.audit.lost),
    "access.audit.read": (ADMIN, lambda store, on: store.access.audit.read(latest=1)),
    "access.audit.as_lines": (ADMIN, lambda store, on: store.access.audit.as_lines(EntryFilter(), latest=1)),
    "access.limits.all": (ADMIN, lambda store, on: store.access.limits.all()),
    "access.limits.set": (ADMIN, lambda store, on: store.access.limits.set("sales", GroupLimits(files=1))),
    "access.people.all": (ADMIN, lambda store, on: store.access.people.all()),
    "access.people.find": (ADMIN, lambda store, on: store.access.people.find("spare")),
    "access.people.add": (ADMIN, lambda store, on: store.access.people.add("new@example.com")),
    "access.people.set_role": (ADMIN, lambda store, on: store.access.people.set_role(on.person, Role.ADMIN)),
    "access.people.disable": (ADMIN, lambda store, on: store.access.people.disable(on.person)),
    "access.people.enable": (ADMIN, lambda store, on: store.access.people.enable(on.person)),
    "access.people.erase": (ADMIN, lambda store, on: store.access.people.erase(on.person)),
}

JOB_CALLS: dict[str, Callable[[UserIngestion], object]] = {
    "index": lambda job: job.index,
    "state": lambda job: job.state,
    "failure": lambda job: job.failure,
    "items": lambda job: job.items,
    "results": lambda job: job.results,
    "progress": lambda job: job.progress,
    "is_finished": lambda job: job.is_finished,
    "is_cancelled": lambda job: job.is_cancelled,
    "cancel": lambda job: job.cancel(),
    "wait": lambda job: job.wait(),
    "as_completed": lambda job: list(job.as_completed()),
}


class World(NamedTuple):
    people: People
    target: Target
    missing: Target


@pytest.fixture
def world(serviced: Settings, tmp_path: Path) -> Iterator[World]:
    """An index “plans” with a document and people who have each of the rights, and an index that everybody may read."""
    files = [tmp_path / name for name in ("plans.md", "more.md")]
    for file in files:
        file.write_text(f"# {file.stem}\n\nApples are red.", encoding="utf-8")
    with people_of(serviced) as people:
        store = people.store
        for name in ("owner", "manager", "writer", "reader", "stranger", "outside reader", "spare"):
            people.id(name)
        store.create_index("lobby")
        store.access.grants.give("lobby", EVERYONE, READ)
        people("owner").create_index("plans")
        people.give("plans", manager=MANAGE, writer=WRITE, reader=READ)
        document = store.add("plans", files[0]).document_id
        assert document is not None
        allowed = store.access.rights.named(LOCAL, "plans")
        assert allowed is not None
        section, analysis = store.sections(document)[0].id, store.analyse("plans", "apples")
        job, gone = (people("owner").ingest("plans", []) for _ in range(2))
        people("owner").dismiss(gone)
        target = Target("plans", allowed.index.id, document, section, files[1], analysis, job, people.id("spare"))
        yield World(
            people, target, Target("other", "i" * 32, "d" * 32, section[::-1], files[1], analysis, gone, "e" * 32)
        )


def outcome(call: Call, store: UserStore, target: Target) -> object:
    """What the call returns, or its error in both languages, without the names that the caller has asked for."""
    try:
        told = call(store, target)
    except errors.PlainError as error:
        told = (type(error), error.sentence("en"), error.sentence("ja"))
    words = repr(told)
    for name in (target.index, target.document, target.person):
        words = words.replace(name, "…")
    return words


def state(store: IndexStore) -> object:
    """Everything that these calls could change."""
    return (
        store.indexes(), store.documents(), store.access.grants.all(), store.glossary("plans"),
        [(each.id, each.role, each.disabled_at) for each in store.access.people.all()], store.access.limits.all(),
    )  # fmt: skip


def test_each_method_of_the_store_is_on_the_facade_or_listed_as_internal(world: World) -> None:
    store, facade = world.people.store, world.people("owner")
    assert surface(store) - surface(facade) == set(OF_THE_PROCESS)
    assert surface(facade) <= surface(store)


def test_each_method_of_the_facade_has_a_call_below(world: World) -> None:
    assert surface(world.people("owner")) == set(CALLS)
    job = world.people("owner").ingest("plans", [])
    assert surface(job) == set(JOB_CALLS)


@pytest.mark.parametrize("who", ["stranger", "outside reader"])
def test_what_a_person_may_not_see_looks_as_if_it_did_not_exist(world: World, who: str) -> None:
    before = state(world.people.store)
    facade = world.people(who)
    # With these calls, an editor creates an index: see below.
    guesses = [(name, call) for name, (_, call) in CALLS.items() if name not in MAKERS or who == "outside reader"]
    at_this = {name: outcome(call, facade, world.target) for name, call in guesses}
    at_nothing = {name: outcome(call, facade, world.missing) for name, call in guesses}
    assert at_this == at_nothing
    assert state(world.people.store) == before


MAKERS = ("ingest", "add", "create_index")
"""calls that create the index if it does not exist"""


def test_an_editor_who_makes_an_index_of_a_name_that_is_anothers_is_told_that_it_is_taken_and_no_more(
    world: World,
) -> None:
    stranger = world.people("stranger")
    before = state(world.people.store)
    with pytest.raises(errors.IndexExists):
        stranger.create_index("plans")
    with pytest.raises(errors.IndexExists):
        stranger.add("plans", world.target.file)
    job = stranger.ingest("plans", [FileSource(world.target.file)])
    assert (job.wait(), type(job.failure)) == ((), errors.IndexExists)
    assert state(world.people.store) == before
    stranger.create_index("own")
    with pytest.raises(errors.IndexExists):
        stranger.rename_index("own", "plans")
    assert [index.name for index in stranger.indexes()] == ["lobby", "own"]


def met(calls: dict[str, Callable[[], object]]) -> dict[str, type[Exception] | None]:
    """The type of error that each call raises, or None."""
    found: dict[str, type[Exception] | None] = {}
    for name, call in calls.items():
        try:
            call()
        except errors.PlainError as error:
            found[name] = type(error)
        else:
            found[name] = None
    return found


MAY = {"stranger": MANAGE, "reader": READ, "writer": WRITE, "manager": MANAGE, "owner": MANAGE}


def test_a_call_beyond_the_persons_right_is_refused_and_changes_nothing(world: World) -> None:
    before = state(world.people.store)
    for who, may in MAY.items():
        facade = world.people(who)
        refused = {
            name: errors.AdminNeeded if needs == ADMIN else errors.RightMissing
            for name, (needs, _) in CALLS.items()
            if needs == ADMIN or (isinstance(needs, Right) and needs > may)
        }
        assert met({name: partial(CALLS[name][1], facade, world.target) for name in refused}) == refused, who
    assert state(world.people.store) == before


@pytest.mark.parametrize("who", ["reader", "writer", "manager", "owner", "root"])
def test_a_call_succeeds_with_the_right_that_it_needs(world: World, who: str) -> None:
    """A person with exactly the right that a call needs can make it. The owner and an admin can do more."""
    facade = world.people(who)
    most = {"reader": (READ, ANYBODY), "writer": (WRITE,), "manager": (MANAGE,), "owner": (ANYBODY, READ, WRITE)}
    for name, (needs, call) in CALLS.items():
        if (needs in most.get(who, (needs,))) and not (name == "create_index" and who == "reader"):
            call(facade, world.target)
    if who == "root":
        with pytest.raises(errors.UnknownIndex):
            world.people.store.documents("plans")


def test_whoever_is_disabled_meets_the_end_of_their_access_in_every_call(world: World) -> None:
    facade = world.people("manager")
    job = facade.ingest("plans", [])
    job.wait()
    assert facade.documents("plans")
    before = state(world.people.store)
    world.people.disable("manager")
    of_store = met({name: partial(call, facade, world.target) for name, (_, call) in CALLS.items()})
    of_job = met({name: partial(call, job) for name, call in JOB_CALLS.items()})
    assert of_store == dict.fromkeys(CALLS, errors.AccessWithdrawn)
    assert of_job == dict.fromkeys(JOB_CALLS, errors.AccessWithdrawn)
    world.people.store.access.people.enable(world.people.id("manager"))
    assert state(world.people.store) == before
    assert facade.documents("plans")


def test_a_job_is_shown_to_whoever_began_it_or_manages_its_index_and_to_nobody_else(world: World) -> None:
    people = world.people
    people("owner").dismiss(world.target.job)
    job = people("writer").ingest("plans", [FileSource(world.target.file)])
    job.wait()
    seen = {name for name in ("owner", "manager", "writer", "reader", "stranger", "root") if people(name).ingestions}
    assert seen == {"owner", "manager", "writer", "root"}
    people("stranger").dismiss(job)
    assert people("writer").ingestions == (job,)
    of_manager = people("manager").ingestions[0]
    assert (of_manager, of_manager.index, of_manager.results) == (job, "plans", job.results)
    people.give("plans", manager=WRITE)
    assert met({name: partial(call, of_manager) for name, call in JOB_CALLS.items()}) == dict.fromkeys(
        JOB_CALLS, errors.UnknownJob
    )
    people("owner").dismiss(job)
    assert people("writer").ingestions == ()


def test_a_job_tells_the_new_name_of_its_index_only_to_whoever_may_read_it(world: World) -> None:
    people = world.people
    job = people("writer").ingest("plans", [FileSource(world.target.file)])
    job.wait()
    people("owner").rename_index("plans", "new plans")
    assert job.index == "new plans"
    people.store.access.grants.take("new plans", people.grantee("writer"))
    people("owner").rename_index("new plans", "merger with Acme")
    assert [each.index for each in people("writer").ingestions] == ["plans"]
    assert next(each.index for each in people("owner").ingestions if each == job) == "merger with Acme"


def test_each_is_told_what_they_may_do_with_an_index_and_whether_they_make_any(world: World) -> None:
    people = world.people
    told = {name: people(name).right("plans") for name in ("owner", "manager", "writer", "reader", "root")}
    assert told == {"owner": MANAGE, "manager": MANAGE, "writer": WRITE, "reader": READ, "root": MANAGE}
    assert [people(name).may_create_indexes for name in ("stranger", "reader", "root")] == [True, False, True]
    names = ("stranger", "reader", "writer", "root")
    assert [people(name).adds_documents for name in names] == [True, False, True, True]
    assert people.store.right("plans") is MANAGE
    people.give("plans", manager=READ)
    assert people("manager").right("plans") is READ


def test_whoever_grants_to_a_mail_address_does_not_learn_whether_there_is_such_a_person(world: World) -> None:
    owner = world.people("owner")
    told = []
    for address in ("spare@example.com", "nobody@example.com"):
        given = owner.access.grants.give("plans", Grantee(GranteeKind.ACCOUNT, address), READ)
        told.append(repr((given, owner.access.grants.of("plans"))).replace(address, "…"))
        owner.access.grants.take("plans", Grantee(GranteeKind.ACCOUNT, address))
    assert told[0] == told[1]


def test_the_process_itself_asks_in_the_name_of_the_local_person_who_may_everything(world: World) -> None:
    store = world.people.store
    assert [index.name for index in store.indexes()] == ["lobby", "plans"]
    store.create_index("made")
    assert store.access.grants.of("made").owner is None
    store.delete_index("plans")

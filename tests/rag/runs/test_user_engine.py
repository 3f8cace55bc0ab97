"""Every method and property of the engine, and who may use it. A new one fails here until it is added.

Those for documents are tested in tests/index_store/store/test_authorization.py.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import BaseModel

from index_store.access.grants import EVERYONE
from index_store.access.rights import Right
from index_store.base import errors
from index_store.ingestion.sources import FileSource, keep_upload
from index_store.store.index_store import IndexStore
from rag.errors import IndexGone, SharerOut, UnknownShare
from rag.runs.engine import Engine, UserEngine
from rag.runs.fork.edits import LeaveOut, TakeChunk
from rag.runs.history.conversations.branches import Branch
from rag.runs.history.for_people.run_list import RunFilter
from rag.runs.in_flight import run_at_work
from rag.runs.run.options import RunOptions
from rag.settings import Settings
from tests.helpers.waiting import eventually
from tests.index_store.team import People
from tests.rag.documents import INDEX, QUESTION
from tests.rag.scripted import Gate, Held, ScriptedChat, ScriptedSource

NAIVE = RunOptions(pipeline="naive")
ROOT = Path(__file__).parents[3]

OF_THE_PROCESS = {
    "as_user": "makes the facade",
    "close": "the process ends",
    "comparisons.add": "saves what `begin` and `keep` have created",
    "comparisons.replace": "saves what `begin_again` has created",
    "history.calls.copy": "for a fork; `forks.begin` checks who owns its origin",
    "history.calls.save": "a run calls it",
    "history.close": "the process ends",
    "history.close_interrupted_runs": "the process starts",
    "history.conversations.delete_all_of": "`personal_data.delete` authorizes the call",
    "history.conversations.expire": "deletes old conversations, of all people",
    "history.conversations.ids_of": "`personal_data` authorizes the call",
    "usage.add": "a run calls it",
    "usage.forget": "`personal_data.delete` authorizes the call",
    "usage.sweep": "deletes old usage, of all people",
    "usage.tokens": "runs read by it whether a person may ask more",
    "history.conversations.delete": "`delete_conversation` authorizes the call, and stops its runs first",
    "history.conversations.with_forks": "the same, and stops theirs",
    "history.conversations.list_in_chat": "`ask` checks the owner",
    "history.conversations.is_comparison": "`exports.gather` calls it, which checks the owner",
    "history.conversations.new": "`ask` and similar methods call it",
    "history.database": "other modules query it",
    "history.active_runs": "apps that share a database read each other's runs by it",
    "history.known_runs": "tells which checkpoints may be deleted",
    "history.together": "`ask` and similar methods call it",
    "history.refuse_newer": "the process starts",
    "history.redaction.redact": "redacts removed documents in the histories of all people",
    "history.redaction.redacted": "redacts removed documents in the histories of all people",
    "history.redaction.has_been_read": "redacts removed documents in the histories of all people",
    "history.redaction.has_been_read_by": "redacts removed documents in the histories of all people",
    "history.redaction.saving": "redacts removed documents in the histories of all people",
    "history.save": "a run calls it",
    "history.turns_given": "`ask` calls it, for a run of the branch that the new run continues",
    "personal_data.delete_of_erased": "deletes the data of erased people",
    "preload.close": "the process ends",
    "suggestions.are_worth_making": "a run calls it",
    "suggestions.coming": "a run calls it",
    "suggestions.drop": "`ask` and `delete_conversation` check the owner",
    "suggestions.end": "the process ends",
    "suggestions.make": "a run calls it",
    "suggestions.save": "a run calls it",
}
"""public names of the engine that the facade does not have: who calls them"""


def walked(of: object, path: str = "") -> dict[str, type]:
    """The public attributes of an object and of rag's own objects in it, as paths, each with the type that has it."""
    found: dict[str, type] = {}
    for name in {*dir(type(of)), *vars(of)}:
        if name.startswith("_"):
            continue
        static = inspect.getattr_static(of, name)
        module = type(static).__module__
        is_ours = module.startswith("rag.runs") or module == "rag.models.preload"
        if is_ours and not isinstance(static, BaseModel | tuple):
            found |= walked(static, f"{path}{name}.")
        elif not module.startswith("index_store."):
            found[path + name] = type(of)
    return found


class Target(NamedTuple):
    """The ids that a call asks for."""

    conversation: str
    run: str
    comparison: str
    columns: tuple[str, ...]
    share: str


ANYBODY = "anybody"
OWN = "own"

Call = Callable[[UserEngine, Target], object]


def of_run(engine: UserEngine, on: Target) -> object:
    run = engine.history.run(on.run)
    return run and (run.feedback, run.feedback_reason, run.cause_by_person)


# The order matters: each call finds what it needs, and calls that delete come last. Each returns its result.
CALLS: dict[str, tuple[str, Call]] = {
    "settings": (ANYBODY, lambda engine, on: engine.settings.style),
    "model_names": (ANYBODY, lambda engine, on: engine.model_names),
    "runs_in_flight": (ANYBODY, lambda engine, on: engine.runs_in_flight >= 0),
    "preload.begin": (ANYBODY, lambda engine, on: engine.preload.begin()),
    "preload.since": (ANYBODY, lambda engine, on: engine.preload.since),
    "history.set_aside": (ANYBODY, lambda engine, on: engine.history.set_aside),
    "run": (OWN, lambda engine, on: engine.run(on.run) is not None),
    "events": (OWN, lambda engine, on: len(engine.events(on.run))),
    "running": (ANYBODY, lambda engine, on: engine.running(on.conversation)),
    "history.run": (OWN, lambda engine, on: engine.history.run(on.run)),
    "history.stored_run": (OWN, lambda engine, on: engine.history.stored_run(on.run).id),
    "history.runs": (OWN, lambda engine, on: engine.history.runs(on.conversation)),
    "history.events": (OWN, lambda engine, on: engine.history.events(on.run)),
    "history.calls.of_step": (OWN, lambda engine, on: engine.history.calls.of_step(on.run, "generate", 1)),
    "history.branch": (OWN, lambda engine, on: engine.history.branch(on.conversation, through=on.run)),
    "history.title": (OWN, lambda engine, on: engine.history.title(on.conversation, Branch((on.run,)))),
    "history.outlines": (OWN, lambda engine, on: engine.history.outlines(on.conversation, 9)),
    "history.outlines_of": (OWN, lambda engine, on: engine.history.outlines_of(engine.history.runs(on.conversation))),
    "history.turns": (OWN, lambda engine, on: engine.history.turns(on.conversation, before="?")),
    "history.rate": (OWN, lambda engine, on: (engine.history.rate(on.run, -1), of_run(engine, on))),
    "history.explain_feedback": (
        OWN, lambda engine, on: (engine.history.explain_feedback(on.run, "wrong"), of_run(engine, on)),
    ),
    "history.conversations.get": (OWN, lambda engine, on: engine.history.conversations.get(on.conversation)),
    "history.conversations.exists": (OWN, lambda engine, on: engine.history.conversations.exists(on.conversation)),
    "history.conversations.rename": (
        OWN,
        lambda engine, on: (
            engine.history.conversations.rename(on.conversation, "new"),
            engine.history.conversations.get(on.conversation),
        ),
    ),
    "history.conversations.listed": (
        OWN, lambda engine, on: [each for each in engine.history.conversations.listed() if each.id == on.conversation],
    ),
    "history.conversations.count": (ANYBODY, lambda engine, on: engine.history.conversations.count("of nobody")),
    "run_list.page": (
        OWN,
        lambda engine, on: [
            each for each in engine.run_list.page(RunFilter(), "latest", first=0, count=99) if each.id == on.run
        ],
    ),
    "run_list.count": (ANYBODY, lambda engine, on: engine.run_list.count(RunFilter(words="of nobody"))),
    "run_list.count_through": (OWN, lambda engine, on: engine.run_list.count_through(on.run, RunFilter(), "latest")),
    "run_list.existing": (OWN, lambda engine, on: engine.run_list.existing([on.run, *on.columns])),
    "run_list.pipelines": (ANYBODY, lambda engine, on: len(engine.run_list.pipelines()) < 9),
    "run_list.indexes": (ANYBODY, lambda engine, on: len(engine.run_list.indexes()) < 9),
    "run_list.set_cause": (OWN, lambda engine, on: (engine.run_list.set_cause(on.run, "misread"), of_run(engine, on))),
    "suggestions.after": (OWN, lambda engine, on: engine.suggestions.after(on.run)),
    "suggestions.are_coming": (ANYBODY, lambda engine, on: engine.suggestions.are_coming(on.run)),
    "comparisons.get": (OWN, lambda engine, on: engine.comparisons.get(on.comparison)),
    "comparisons.latest": (
        OWN, lambda engine, on: [each for each in engine.comparisons.latest(9) if each.id == on.comparison],
    ),
    "comparisons.of_runs": (OWN, lambda engine, on: engine.comparisons.of_runs(on.columns)),
    "comparisons.vote": (
        OWN,
        lambda engine, on: (
            engine.comparisons.vote(on.comparison, on.columns[0]),
            engine.comparisons.get(on.comparison),
        ),
    ),
    "comparisons.votes": (OWN, lambda engine, on: engine.comparisons.votes(on.columns)),
    "comparisons.keep": (OWN, lambda engine, on: len(engine.comparisons.keep(on.columns).run_ids)),
    "comparisons.begin": (
        OWN, lambda engine, on: len(engine.comparisons.begin(QUESTION, INDEX, [NAIVE], beside=on.run).run_ids),
    ),
    "comparisons.begin_again": (
        OWN, lambda engine, on: engine.comparisons.begin_again(on.comparison, on.columns[1]) is not None,
    ),
    "forks.changed_documents": (ANYBODY, lambda engine, on: engine.forks.changed_documents(on.run)),
    "forks.begin": (OWN, lambda engine, on: engine.forks.begin(on.run, "generate", 1, [LeaveOut(passage=1)]).before),
    "shares.listed": (OWN, lambda engine, on: engine.shares.listed(on.run)),
    "shares.count": (ANYBODY, lambda engine, on: engine.shares.count() < 9),
    "shares.add": (OWN, lambda engine, on: engine.shares.add(on.conversation).share.title),
    "shares.shared": (ANYBODY, lambda engine, on: engine.shares.shared(on.share)),
    "exports.gather": (OWN, lambda engine, on: engine.exports.gather(on.run, "json").title),
    "shares.revoke": (
        OWN,
        lambda engine, on: (
            engine.shares.revoke(on.share),
            [each.revoked_at is None for each in engine.shares.listed(on.run)],
        ),
    ),
    "ask": (
        OWN,
        lambda engine, on: (
            engine.ask(
                QUESTION, index=INDEX, pipeline_name="naive", conversation_id=on.conversation, edits=on.run
            ).conversation_id == on.conversation
        ),
    ),
    "delete_conversation": (
        OWN,
        lambda engine, on: (
            engine.history.conversations.exists(on.conversation),
            engine.delete_conversation(on.conversation),
        ),
    ),
    "usage.by_person": (ANYBODY, lambda engine, on: len(engine.usage.by_person()) < 9),
    "usage.of": (ANYBODY, lambda engine, on: engine.usage.of().person_id),
    "personal_data.of": (ANYBODY, lambda engine, on: engine.personal_data.of().indexes),
    "personal_data.delete": (ANYBODY, lambda engine, on: engine.personal_data.delete().indexes),
    "personal_data.erase": (ANYBODY, lambda engine, on: engine.personal_data.erase("nobody")),
}  # fmt: skip


class World:
    """An engine over documents that everyone may read, and people who ask."""

    def __init__(self, process: Engine) -> None:
        self.process = process
        self.people = People(process.store)
        process.store.access.grants.give(INDEX, EVERYONE, Right.READ)

    def __call__(self, name: str) -> UserEngine:
        """The facade of the person with this name."""
        return self.process.as_user(partial(self.process.store.access.principal, self.people.id(name)))

    def target(self, name: str) -> Target:
        """A run, a comparison and a share of the person with this name."""
        engine = self(name)
        run = ask(engine)
        assert run.result().status == "finished"
        comparison = engine.comparisons.begin(QUESTION, INDEX, [NAIVE, NAIVE])
        columns = tuple(each for each in comparison.run_ids if each)
        for each in columns:
            engine.run(each).result()
        self.process.suggestions.save(run.id, ["次は?"])
        share = engine.shares.add(run.id).share
        return Target(run.conversation_id, run.id, comparison.id, columns, share.id)


def ask(engine: UserEngine, question: str = QUESTION, index: str = INDEX, **options):
    return engine.ask(question, index=index, pipeline_name="naive", **options)


@pytest.fixture
def chat() -> ScriptedChat:
    chat = ScriptedChat()
    chat.default = "2,500円です[1]。"
    return chat


@pytest.fixture
def world(loaded: Path, embeddings, chat) -> Iterator[World]:
    settings = Settings(data_dir=loaded, web_search="off", draft_ahead=False)
    with Engine(settings, store=IndexStore(settings, embeddings), source=ScriptedSource(chat)) as process:
        yield World(process)


MISSING = Target("c" * 32, "r" * 32, "d" * 32, ("a" * 32, "b" * 32), "s" * 32)


def outcome(call: Call, engine: UserEngine, target: Target) -> str:
    """The result of a call, or its error in both languages, without the ids that it asked for."""
    try:
        told = call(engine, target)
    except errors.PlainError as error:
        told = (type(error), error.sentence("en"), error.sentence("ja"))
    words = repr(told)
    for name in (target.conversation, target.run, target.comparison, *target.columns, target.share):
        words = words.replace(name, "…")
    return words


def state(engine: UserEngine) -> object:
    """Everything that a stranger's calls could change."""
    return (
        engine.history.runs(), engine.history.conversations.listed(), engine.comparisons.latest(99),
        engine.shares.listed(),
    )  # fmt: skip


def test_each_method_of_the_engine_is_on_the_facade_or_listed_as_internal(world):
    process, facade = set(walked(world.process)), set(walked(world("owner")))
    assert process - facade == set(OF_THE_PROCESS)
    assert facade <= process


def test_each_method_of_the_facade_has_a_call_below(world):
    assert set(walked(world("owner"))) == set(CALLS)


def test_no_page_names_what_is_behind_the_facades(world):
    behind = {each.__name__ for each in walked(world.process).values()} | {"Engine"}
    assert {"History", "RunList", "Shares", "Conversations", "Comparisons"} <= behind
    for page in (ROOT / "pages").rglob("*.py"):
        tree = ast.parse(page.read_text(encoding="utf-8"))
        named = {alias.name for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) for alias in each.names}
        hidden = behind if page.parent.name == "server" else behind | {"access", "whole_engine"}
        assert page.name == "process.py" or not named & hidden, page


@pytest.mark.parametrize("who", ["stranger", pytest.param("outside reader", marks=pytest.mark.soak), "root"])
def test_what_a_person_may_not_see_looks_as_if_it_did_not_exist(world, who):
    """Also for an admin: other people can only use a link."""
    target = world.target("owner")
    before = state(world("owner"))
    facade = world(who)
    calls = {name: call for name, (_, call) in CALLS.items()} | {
        "the file of a conversation": lambda engine, on: engine.exports.gather(on.conversation, "json").title,
    }
    at_this = {name: outcome(call, facade, target) for name, call in calls.items()}
    at_nothing = {name: outcome(call, facade, MISSING) for name, call in calls.items()}
    assert at_this == at_nothing
    assert state(world("owner")) == before


def test_whoever_it_belongs_to_does_it_all(world):
    target, facade = world.target("owner"), world("owner")
    for name, (whose, call) in CALLS.items():
        at_nothing = outcome(call, facade, MISSING)
        if whose == OWN:
            assert outcome(call, facade, target) != at_nothing, name


def test_whoever_is_disabled_meets_the_end_of_their_access_in_every_call(world):
    target, facade = world.target("owner"), world("owner")
    link = facade.shares.add(target.run)
    shared = world("stranger").shares.shared(link.token)
    of_shared = facade.shares.shared(link.token)
    before = state(facade)
    world.people.disable("owner")
    calls = {name: partial(call, facade, target) for name, (_, call) in CALLS.items()}
    calls |= {
        "a link": lambda: facade.shares.shared(link.token),
        "what a link showed": lambda: of_shared.events(target.run),
        "its prompts": lambda: of_shared.calls.of_step(target.run, "generate", 1),
        "its turns": lambda: of_shared.outlines_of(of_shared.runs),
        "documents": lambda: facade.store.documents(INDEX),
    }
    met = {}
    for name, call in calls.items():
        try:
            call()
        except errors.PlainError as error:
            met[name] = type(error)
    assert met == dict.fromkeys(calls, errors.AccessWithdrawn)
    assert shared.events(target.run) == []
    with pytest.raises(SharerOut):
        world("stranger").shares.shared(link.token)
    world.process.store.access.people.enable(world.people.id("owner"))
    assert state(facade) == before
    assert shared.events(target.run)


def test_a_disabled_persons_runs_are_stopped_those_that_wait_too_and_nobody_elses(world, chat, tmp_path, monkeypatch):
    monkeypatch.setattr(run_at_work, "LOOK", 0.02)
    gate = Gate()
    chat.default = Held(gate, "2,500円です[1]。")
    settings = world.process.settings
    file = tmp_path / "parking.md"
    file.write_text("# Parking\n\nThe garage closes at 22:00.\n", encoding="utf-8")
    with file.open("rb") as content:
        upload = keep_upload(settings.data_dir, file.name, content)
    leaver, other = world("leaver"), world("other")
    at_work = [ask(leaver) for _ in range(settings.runs_per_person)]
    waiting = ask(leaver, attachments=[upload])
    of_other = ask(other)
    gate.wait_for(len(at_work) + 1)
    world.people.disable("leaver")
    assert {run.result().status for run in (*at_work, waiting)} == {"stopped"}
    assert eventually(lambda: not upload.path.exists())
    gate.open()
    assert of_other.result().status == "finished"
    assert "parking.md" not in [each.source for each in world.process.store.documents()]


def test_what_an_index_does_not_show_to_someone_no_run_of_theirs_finds(world, chat):
    world.process.store.create_index("lobby")
    world.process.store.access.grants.give("lobby", EVERYONE, Right.READ)
    world.process.store.access.grants.take(INDEX, EVERYONE)
    told = [ask(world("stranger"), index=index).result().error for index in (INDEX, "nowhere")]
    assert [each.code for each in told] == ["unknown_index", "unknown_index"]
    assert told[0].sentence("en").replace(INDEX, "nowhere") == told[1].sentence("en")
    assert "lobby" in told[0].sentence("en")
    assert chat.prompts == []


def test_a_right_that_is_taken_while_a_run_waits_is_gone_when_it_searches(world, chat):
    gate = Gate()
    chat.default = Held(gate, "2,500円です[1]。")
    reader = world("reader")
    at_work = [ask(reader) for _ in range(world.process.settings.runs_per_person)]
    waiting = ask(reader)
    gate.wait_for(len(at_work))
    world.process.store.access.grants.take(INDEX, EVERYONE)
    gate.open()
    assert {run.result().status for run in at_work} == {"finished"}
    assert waiting.result().error.code == "index_gone"


def test_who_may_only_read_an_index_adds_nothing_to_it_with_a_question(world, tmp_path):
    upload = FileSource(tmp_path / "parking.md", is_upload=True)
    upload.path.write_text("# Parking\n\nThe garage closes at 22:00.\n", encoding="utf-8")
    before = world.process.store.documents()
    assert ask(world("reader"), attachments=[upload]).result().error.code == "right_missing"
    assert world.process.store.documents() == before
    assert not upload.path.exists()


def test_a_trace_stays_its_owners_when_the_index_is_not_open_to_them_any_more_and_goes_on_no_further(world):
    target, owner = world.target("owner"), world("owner")
    read = owner.history.events(target.run)
    world.process.store.access.grants.take(INDEX, EVERYONE)
    assert owner.history.events(target.run) == read
    assert owner.forks.changed_documents(target.run).gone
    with pytest.raises(IndexGone):
        owner.forks.begin(target.run, "generate", 1, [LeaveOut(passage=1)])
    with pytest.raises(errors.EmptyIndex):
        owner.store.search(INDEX, QUESTION)


def test_a_fork_takes_in_nothing_that_may_not_be_read_and_does_not_tell_that_there_is_such(world, tmp_path):
    target, owner, store = world.target("owner"), world("owner"), world.process.store
    file = tmp_path / "secret.md"
    file.write_text("# Secret\n\nThe plan is red.\n", encoding="utf-8")
    secret = store.add("secret", file).document_id
    chunk = store.chunks(secret)[0].id
    told = []
    for document_id in (secret, "d" * 32):
        with pytest.raises(errors.DocumentGone) as refused:
            owner.forks.begin(target.run, "retrieve", 1, [TakeChunk(document_id=document_id, chunk_id=chunk)])
        told.append(refused.value.sentence("en").replace(document_id, "…"))
    assert told[0] == told[1]


def test_a_link_shows_its_runs_and_no_document_to_whoever_has_it(world):
    target, owner = world.target("owner"), world("owner")
    other = ask(owner, conversation_id=target.conversation)
    other.result()
    link = owner.shares.add(target.run)
    world.process.store.access.grants.take(INDEX, EVERYONE)
    opener = world("stranger")
    shared = opener.shares.shared(link.token)
    assert [run.id for run in shared.runs] == [target.run]
    assert shared.events(target.run) == owner.history.events(target.run)
    assert shared.calls.of_step(target.run, "generate", 1)
    assert [outline.run.id for outline in shared.outlines_of(shared.runs)] == [target.run]
    assert (shared.events(other.id), shared.calls.of_step(other.id, "generate", 1)) == ([], ())
    assert shared.outlines_of([owner.history.run(other.id)]) == []
    assert set(walked(shared)) == {"share", "runs", "events", "outlines_of", "calls.of_step"}
    with pytest.raises(errors.UnknownSection):
        opener.store.section(owner.history.events(target.run)[-1].citations[0].section_id)
    owner.shares.revoke(link.share.id)
    assert (shared.events(target.run), shared.outlines_of(shared.runs)) == ([], [])
    with pytest.raises(UnknownShare):
        opener.shares.shared(link.token)


def test_what_was_asked_before_people_signed_in_is_the_admins_and_the_local_person_has_all(world):
    local = world.process.as_user(lambda: world.process.store.access.principal("local"))
    before = ask(local)
    own = ask(world("owner"))
    [run.result() for run in (before, own)]
    seen = {
        name: [run.id for run in engine.history.runs()]
        for name, engine in {"local": local, "root": world("root"), "owner": world("owner")}.items()
    }
    assert seen == {"local": [before.id, own.id], "root": [before.id], "owner": [own.id]}
    with pytest.raises(errors.PlainError):
        world("owner").history.stored_run(before.id)

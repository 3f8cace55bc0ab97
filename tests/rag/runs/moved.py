"""Helpers for moves: a data folder with real content, what people see of it, and moves that are killed."""

import os
import signal
import sys
from contextlib import AbstractContextManager
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

from pydantic import SecretStr

from index_store.access.grants import EVERYONE
from index_store.access.limits import GroupLimits
from index_store.access.people.recognition import SignInClaims
from index_store.access.rights import Right
from index_store.base.settings.settings import Settings as StoreSettings
from index_store.store.index_store import IndexStore
from index_store.transfer.move.move import move
from index_store.transfer.move.plan import MoveTarget
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import EditQuery
from rag.runs.run.options import RunOptions
from rag.settings import Settings
from tests.helpers.back_doors import process_of
from tests.helpers.local import local_engine
from tests.rag.documents import INDEX, QUESTION
from tests.rag.scripted import ScriptedChat, ScriptedSource
from tests.rag.verdicts import approve

BROWSER = b"what a browser shows"
RUNS = 5
"""that are asked here"""

processes = get_context("forkserver")
processes.set_forkserver_preload(["index_store.transfer.move.move", "rag.databases", "chromadb"])


def opened(settings: Settings, embeddings: EmbeddedEmbeddings) -> AbstractContextManager[UserEngine]:
    chat = ScriptedChat()
    approve(chat)
    chat.default = "一日につき二千五百円です[1]。"
    return local_engine(settings, store=IndexStore(settings, embeddings), source=ScriptedSource(chat))


def live_in(settings: Settings, embeddings: EmbeddedEmbeddings) -> None:
    with opened(settings, embeddings) as engine:
        asked = engine.ask(QUESTION, index=INDEX, pipeline_name="hybrid")
        asked.result()
        engine.ask("有給休暇は?", index=INDEX, pipeline_name="naive", conversation_id=asked.conversation_id).result()
        engine.history.rate(asked.id, -1)
        engine.history.explain_feedback(asked.id, "日当が\0ない")
        engine.shares.add(asked.conversation_id)
        engine.forks.begin(asked.id, "retrieve", 1, [EditQuery(query="宿泊費")]).result()
        compared = engine.comparisons.begin(
            QUESTION, INDEX, (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid"))
        )
        for run in engine.history.runs(compared.id):
            engine.run(run.id).result()
        assert sum(each.runs for each in process_of(engine).usage.by_person()) == RUNS
        engine.comparisons.vote(compared.id, engine.history.runs(compared.id)[0].id)
        access = process_of(engine).store.access
        person = access.people.signed_in(SignInClaims("https://id.example.com", "anna", name="Anna", groups=("staff",)))
        access.sign_ins.begin(person.id, BROWSER, timedelta(days=1000))
        access.limits.set("staff", GroupLimits(tokens_a_day=3_000_000_000))
        access.grants.give(INDEX, EVERYONE, Right.READ)


def seen(engine: UserEngine) -> dict[str, object]:
    """All stored data, read through public methods."""
    process, history = process_of(engine), engine.history
    access, runs = process.store.access, history.runs()
    hits = [
        hit.model_dump()
        for mode in ("vector", "keyword", "hybrid")
        for unit in ("section", "chunk")
        for hit in engine.store.search(INDEX, "日当", mode=mode, unit=unit, k=4)
    ]
    return {
        "indexes": engine.store.indexes(),
        "documents": engine.store.documents(),
        "hits": [{name: each for name, each in hit.items() if not isinstance(each, float)} for hit in hits],
        "scores": [each for hit in hits for each in hit.values() if isinstance(each, float)],
        "people": access.people.all(),
        "signed in": access.sign_ins.person_id(BROWSER),
        "limits": access.limits.all(),
        "grants": access.grants.all(),
        "conversations": history.conversations.listed(),
        "runs": runs,
        "events": [history.events(run.id) for run in runs],
        "shares": engine.shares.listed(),
        "comparisons": [
            (each, engine.comparisons.votes([run.id for run in runs])) for each in engine.comparisons.latest(9)
        ],
        "used": engine.usage.by_person(),
    }


def with_servers(folder: Path, database_url: str, chroma_url: str) -> Settings:
    return Settings(
        data_dir=folder, web_search="off", database_url=SecretStr(database_url), chroma_url=SecretStr(chroma_url)
    )


def _move(settings: StoreSettings, to: MoveTarget, at: str, word: int, rename: int) -> None:
    count = {"words": 0, "os.rename": 0}

    def told(what: str, done: int, of: int) -> None:
        count["words"] += 1
        if count["words"] == word or (at and what.startswith(at)):
            os.kill(os.getpid(), signal.SIGKILL)

    def look(what: str, _: object) -> None:
        if what == "os.rename":
            count[what] += 1
            if count[what] == rename:
                os.kill(os.getpid(), signal.SIGKILL)

    if rename:
        sys.addaudithook(look)
    move(settings, to, told)


def moved(settings: Settings, to: MoveTarget, *, at: str = "", word: int = 0, rename: int = 0) -> bool:
    """Moves in a process of its own. True if the move ended, False if its process was killed.

    It is killed when a progress report begins with `at`, at progress report number `word`, or before rename number
    `rename`.
    """
    values = {name: getattr(settings, name) for name in ("data_dir", "database_url", "chroma_url", "originals_url")}
    process = processes.Process(target=_move, args=(StoreSettings(**values), to, at, word, rename))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode == 0

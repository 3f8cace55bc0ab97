"""One person of the churn: acts at random, and checks that what they find agrees with what they did.

All texts that a person writes, in a document, a question or a name, contain their mark, so that it is noticed when
someone else gets them. At each check, everything that was reported as done must be there, and nothing else.
"""

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO

from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from index_store.base.errors import DocumentGone, EmptyIndex, PlainError, UnknownIndex
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource, keep_upload
from rag.runs.engine import Engine, UserEngine
from rag.runs.history.for_people.run_list import RunFilter
from rag.trace.details import RetrievalDetail
from rag.trace.events import StepFinished

SHARED = "team"
"""the index that all read and write"""
PIPELINE = "self_rag"

_MARK = re.compile(r"secretof(\d{3})")
_PARAGRAPH = "This page is kept for the record of the house, and says nothing else of any weight. "


@dataclass
class Board:
    """Ids of people's objects, for others to try; and the faults that were found."""

    ids: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """by kind: the person, and the id"""
    faults: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, number: int, id_: str) -> None:
        with self._lock:
            self.ids.setdefault(kind, []).append((number, id_))

    def of_another(self, kind: str, number: int, chance: random.Random) -> str | None:
        with self._lock:
            others = [id_ for owner, id_ in self.ids.get(kind, ()) if owner != number]
        return chance.choice(others) if others else None

    def fault(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)


@dataclass(frozen=True)
class Kept:
    """A document that was reported as ready."""

    id: str
    word: str
    """a word that only this document has"""


class Person:
    def __init__(self, number: int, engine: Engine, board: Board, seed: int) -> None:
        claim = SignInClaims("https://id.example.com", f"person-{number}", name=f"Person {number}")
        principal = engine.store.access.people.signed_in(claim)
        engine.store.access.people.set_role(principal.id, Role.EDITOR)
        self._id = principal.id
        self.number = number
        self.mark = f"secretof{number:03}"
        self.index = f"index {self.mark}"
        self.answers: list[float] = []
        """seconds of each answer"""
        self.acts = 0
        self._board = board
        self._chance = random.Random(f"{seed} {number}")
        self._count = 0
        self._documents: dict[str, dict[str, Kept]] = {self.index: {}, SHARED: {}}
        """by index and source"""
        self._conversations: dict[str, dict[str, str]] = {}
        """by id of a conversation: the question of each run"""
        self.sit_down(engine)

    def sit_down(self, engine: Engine) -> None:
        """Uses this engine from now on, as after a restart of the app."""
        self._engine: UserEngine = engine.as_user(partial(engine.store.access.principal, self._id))

    @property
    def runs(self) -> int:
        return sum(map(len, self._conversations.values()))

    @property
    def documents(self) -> int:
        return sum(map(len, self._documents.values()))

    def live(self, until: float, acts: int | None, pause: float) -> None:
        """Acts until `until` (clock `time.monotonic`) or for `acts` acts, with at most `pause` seconds between two."""
        while time.monotonic() < until and (acts is None or self.acts < acts):
            self.act()
            self.acts += 1
            time.sleep(min(self._chance.uniform(0, pause), max(0.0, until - time.monotonic())))

    def act(self) -> None:
        ways: dict[Callable[[], None], int] = {
            self.ask: 6,
            self.upload: 4,
            self.remove: 2 * bool(self.documents),
            self.delete_conversation: bool(self._conversations),
            self.look: 1,
            self.guess: 2,
        }
        [way] = self._chance.choices(list(ways), list(ways.values()))
        with self._noting(way.__name__):
            way()

    # What they do

    def ask(self) -> None:
        own = self._conversations
        conversation = self._chance.choice(list(own)) if own and self._chance.random() < 0.3 else None
        documents = self._documents[self.index]
        index = self.index if documents and self._chance.random() < 0.5 else SHARED
        self._count += 1
        question = f"How many characters must a password of {self.mark} have at least, for the {self._count}th time?"
        begun = time.perf_counter()
        run = self._engine.ask(question, index=index, pipeline_name=PIPELINE, conversation_id=conversation)
        result = run.result()
        self.answers.append(time.perf_counter() - begun)
        own.setdefault(run.conversation_id, {})[run.id] = question
        self._board.add("run", self.number, run.id)
        self._board.add("conversation", self.number, run.conversation_id)
        self._expect(conversation in (None, run.conversation_id), "a follow-up left its conversation")
        self._expect(result.status == "finished", f"a run ended as {result.status}: {result.error}")
        for event in run.events:
            if isinstance(event, StepFinished) and isinstance(event.detail, RetrievalDetail):
                for passage in event.detail.passages:
                    self._expect_own(f"{passage.source} {passage.text}", "a passage")

    def upload(self) -> None:
        index = self.index if self._chance.random() < 0.7 else SHARED
        words, sources = {}, []
        for _ in range(self._chance.randint(1, 3)):
            self._count += 1
            name = f"{self._author(index)}-{self._count}.md"
            words[name] = f"w{self._chance.getrandbits(64):016x}"
            sources.append(self._uploaded(name, self._author(index), words[name]))
        job = self._engine.store.ingest(index, sources)
        self._board.add("job", self.number, job.id)
        results = {each.source: each for each in job.wait()}
        self._engine.store.dismiss(job)
        self._expect(job.failure is None, f"an upload failed: {job.failure}")
        for name, word in words.items():
            result = results.get(name)
            if result is None or result.status is not IngestStatus.READY or result.document_id is None:
                self._amiss(f"{name} was not added: {result}")
                continue
            self._documents[index][name] = Kept(result.document_id, word)
            if index == self.index:
                self._board.add("document", self.number, result.document_id)
                self._board.add("index", self.number, index)
            self._expect(self._finds(index, word) == {name}, f"{name} is not found")

    def remove(self) -> None:
        index, name = self._chance.choice([(index, name) for index, of in self._documents.items() for name in of])
        gone = self._documents[index].pop(name)
        self._engine.store.remove_documents([gone.id])
        self._expect(not self._finds(index, gone.word), f"{name} is found after it was removed")

    def delete_conversation(self) -> None:
        id_ = self._chance.choice(list(self._conversations))
        runs = self._conversations.pop(id_)
        self._engine.delete_conversation(id_)
        self._expect(self._engine.history.conversations.get(id_) is None, "a deleted conversation is there")
        self._expect(not any(map(self._engine.history.run, runs)), "a run of a deleted conversation is there")

    def look(self) -> None:
        """Checks all own data: nothing is lost, and nothing else is there."""
        self._look_at_conversations()
        self._look_at_documents()

    def guess(self) -> None:
        """Tries the objects of others: each must look as if it did not exist, and nothing may happen."""
        engine, store = self._engine, self._engine.store
        if run := self._board.of_another("run", self.number, self._chance):
            seen = (engine.run(run), *engine.events(run), engine.history.run(run), *engine.history.events(run))
            self._expect(not any(seen), "another's run is shown")
        if conversation := self._board.of_another("conversation", self.number, self._chance):
            self._expect(not engine.history.conversations.get(conversation), "another's conversation is shown")
            engine.delete_conversation(conversation)
        if document := self._board.of_another("document", self.number, self._chance):
            self._expect_unknown(partial(store.document, document), DocumentGone)
            self._expect_unknown(partial(store.original, document), DocumentGone)
            self._expect(not store.chunks(document), "another's document is shown")
            store.remove_documents([document])
        if job := self._board.of_another("job", self.number, self._chance):
            self._expect(job not in [each.id for each in store.ingestions], "another's job is shown")
        if index := self._board.of_another("index", self.number, self._chance):
            self._expect_unknown(partial(store.documents, index), UnknownIndex)
            self._expect_unknown(partial(store.search, index, "password"), UnknownIndex)
            self._expect_unknown(partial(store.delete_index, index), UnknownIndex)

    # What they find

    def _look_at_conversations(self) -> None:
        history = self._engine.history
        listed = history.conversations.listed()
        self._expect({each.id for each in listed} == set(self._conversations), "the conversations are not those")
        for each in listed:
            self._expect_own(each.title, "a title")
        wanted = {run: question for runs in self._conversations.values() for run, question in runs.items()}
        listed_runs = self._engine.run_list.page(RunFilter(), "latest", first=0, count=len(wanted) + 1)
        self._expect({each.id: each.question for each in listed_runs} == wanted, "the runs are not those")
        for run in wanted:
            stored = history.run(run)
            self._expect(stored is not None and stored.status == "finished", "a run was not kept to its end")
        if wanted:
            events = history.events(self._chance.choice(list(wanted)))
            self._expect(bool(events) and events[-1].kind == "run_finished", "a trace is not whole")

    def _look_at_documents(self) -> None:
        store = self._engine.store
        names = {each.name for each in store.indexes()}
        self._expect({SHARED} <= names <= {SHARED, self.index}, f"the indexes are {names}")
        for index, kept in self._documents.items():
            if index not in names:
                self._expect(not kept, f"{index} is lost")
                continue
            own = f"{self._author(index)}-"
            there = {each.source: each.id for each in store.documents(index) if each.source.startswith(own)}
            self._expect(there == {name: each.id for name, each in kept.items()}, f"the documents of {index} differ")
            for document in store.documents(index):
                self._expect_own(f"{document.source} {document.title}", "a document")
            if kept:
                name = self._chance.choice(list(kept))
                self._expect(self._finds(index, kept[name].word) == {name}, f"{name} is not found any more")

    def _finds(self, index: str, word: str) -> set[str]:
        """The sources of the documents with this word."""
        try:
            hits = self._engine.store.search(index, word, mode="keyword")
        except EmptyIndex:
            return set()
        return {hit.source for hit in hits if word in hit.text}

    def _author(self, index: str) -> str:
        return self.mark if index == self.index else f"shared{self.number:03}"

    def _uploaded(self, name: str, author: str, word: str) -> FileSource:
        text = f"# Passwords of {author}\n\nA password of {author} has at least 14 characters. The word is {word}.\n"
        text += f"\n## More\n\n{_PARAGRAPH * self._chance.randint(1, 12)}\n"
        return keep_upload(self._engine.settings.data_dir, name, BytesIO(text.encode()))

    # Compared with what they did

    def _expect(self, is_so: bool, otherwise: str) -> None:
        if not is_so:
            self._amiss(otherwise)

    def _expect_own(self, text: str, what: str) -> None:
        others = set(_MARK.findall(text)) - {f"{self.number:03}"}
        self._expect(not others, f"{what} is of {sorted(others)}")

    def _expect_unknown(self, call: Callable[[], object], error: type[PlainError]) -> None:
        try:
            call()
        except error:
            return
        self._amiss(f"{call} answers")

    def _amiss(self, what: str) -> None:
        self._board.fault(f"{self.mark}: {what}")

    @contextmanager
    def _noting(self, act: str) -> Iterator[None]:
        try:
            yield
        except PlainError as error:
            self._amiss(f"{act} raised {error!r}")

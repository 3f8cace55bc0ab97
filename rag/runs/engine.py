"""Answers questions. Each question is a run: it streams its events, can be stopped, and is saved while it runs.

The engine runs them in a thread of its own, as tasks of one event loop. So no run is lost when a page reruns, reloads
or closes.
"""

import asyncio
import math
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.exc import DatabaseError

from index_store.access.audit.entry import Action
from index_store.access.gate import CurrentPrincipal
from index_store.base.errors import PlainError
from index_store.ingestion.sources import FileSource, discard_all_uploads, discard_uploads
from index_store.store.index_store import IndexStore
from rag.models.calls.admission import Admission
from rag.models.chat_model import ModelSource
from rag.models.offered import OfferedModels
from rag.models.preload import Preload
from rag.models.registry import model_source
from rag.runs.comparisons import Comparisons
from rag.runs.export.exports import Exports
from rag.runs.fork.checkpoints import Checkpoints, discard
from rag.runs.forks import Forks
from rag.runs.history.daily_usage import DailyUsage
from rag.runs.history.for_people.run_list import RunList
from rag.runs.history.for_people.shares import Shares
from rag.runs.history.for_people.user_history import UserDailyUsage, UserHistory, UserRunList, UserShares
from rag.runs.history.history import History
from rag.runs.history.noted import note_interrupted
from rag.runs.history.ownership import Ownership
from rag.runs.in_flight.allowances import Allowances
from rag.runs.in_flight.execution import ExecutionServices
from rag.runs.in_flight.in_flight import RunsInFlight
from rag.runs.in_flight.new_run import NewRun
from rag.runs.in_flight.run_at_work import RunServices
from rag.runs.in_flight.suggestions import Suggestions
from rag.runs.in_flight.unsaved_ends import UnsavedEnds
from rag.runs.removal import Removal
from rag.runs.retention.personal_data import PersonalData
from rag.runs.retention.retention import Retention
from rag.runs.run.asker import Asker
from rag.runs.run.options import RunOptions
from rag.runs.run.run import Run
from rag.runs.user_services import (
    UserComparisons,
    UserExports,
    UserForks,
    UserPersonalData,
    UserPreload,
    UserSuggestions,
)
from rag.settings import Settings
from rag.trace.events import Event, Style
from rag.trace.passages import Retrieval
from rag.web import WebSearch, web_search

if TYPE_CHECKING:
    from rag.runs.replicas.exchange import RunExchange

T = TypeVar("T")

SEARCH_THREADS = 16
"""a search mostly waits: for the embedding service, or in libraries that let other threads run"""

ENDING = 5
"""seconds that steps which were stopped get to end"""

UPLOAD_SECONDS = 24 * 60 * 60
"""an upload older than this, which nobody has taken in, was left by a replica that died"""


class Engine:
    """One per process. It owns the index store, the chat model, the history and the runs in flight.

    Other subjects have their own objects: `store`, `history`, `preload`, `suggestions`, `usage`, `run_list`, `shares`,
    `exports`, `comparisons`, `forks`, `personal_data`. Everybody who asks for something uses `as_user`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        store: IndexStore | None = None,
        source: ModelSource | None = None,
        web: WebSearch | None = None,
    ) -> None:
        """Raises PlainError, such as StoreInUse if another process holds the data folder."""
        self.settings = settings or Settings()
        # The order matters: each step uses what those before it have made. They are closed in the opposite order.
        with ExitStack() as opened:
            self._open(opened, store, source, web)
            self._start_loop(opened)
            self._make_services(opened)
            self._make_runs(opened)
            self._make_subjects()
            self._begin(opened)
            self._opened = opened.pop_all()
            """closed with the engine, or at once if the engine can't be made"""

    def _open(
        self, opened: ExitStack, store: IndexStore | None, source: ModelSource | None, web: WebSearch | None
    ) -> None:
        """Opens the data, cleans it up, and only then resumes its jobs. A folder of a newer app is refused first: the
        store would change it.
        """
        where = self.settings.data_dir, self.settings.database_url
        History.refuse_newer(*where)
        self.store = opened.enter_context(closing(store or IndexStore(self.settings)))
        self.history = opened.enter_context(closing(History(*where, self.store.replica)))
        self._clear_up()
        self.store.resume()
        self._models = OfferedModels(
            source or model_source(self.settings),
            {
                name: model_source(self.settings.model_copy(update={"chat_model": name}))
                for name in self.settings.other_models
            },
        )
        self._web = web or web_search(self.settings)

    def _start_loop(self, opened: ExitStack) -> None:
        """Starts the threads, and opens what lives in the event loop."""
        self._searching = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        opened.callback(self._searching.shutdown)
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        thread.start()
        opened.callback(self._loop.close)
        opened.callback(thread.join)
        opened.callback(self._loop.call_soon_threadsafe, self._loop.stop)
        self._checkpoints = self._open_checkpoints()
        if self._checkpoints:
            opened.callback(self._in_loop, self._checkpoints.close)
        self._tasks_of_no_run = asyncio.all_tasks(self._loop)
        """such as those of a pool of connections"""

    def _make_services(self, opened: ExitStack) -> None:
        """Makes what the runs use."""
        usual = self._models.usual
        self._admission = Admission(usual.runs_at_once or self.settings.runs_at_once, self.settings.runs_per_person)
        self.preload = Preload(usual, is_wanted=self._may_be_asked)
        opened.callback(self.preload.close)
        self._removal = Removal(self.settings, self.store, self.history, self._checkpoints)
        opened.callback(self._removal.close)
        self._exchange = self._open_exchange()
        if self._exchange:
            opened.callback(self._exchange.close)
        if self._web:
            opened.callback(self._in_loop, self._web.close)
        opened.callback(self._in_loop, self._models.close)
        opened.callback(self._in_loop, self._steps_end)
        self.suggestions = Suggestions(self.settings, self.history, usual, self._admission, self._loop)
        opened.callback(self._in_loop, self.suggestions.end)
        self.usage = DailyUsage(self.history.database)

    def _make_runs(self, opened: ExitStack) -> None:
        are_shared = self._exchange is not None
        self._runs = RunsInFlight(
            self._models,
            RunServices(
                settings=self.settings,
                history=self.history,
                admission=self._admission,
                unsaved_ends=UnsavedEnds(self.history),
                suggestions=self.suggestions,
                removal=self._removal,
                allowances=Allowances(self.settings, self.store.access.limits, self.usage, are_shared=are_shared),
                audit=self.store.access.audit,
                loop=self._loop,
                exchange=self._exchange,
            ),
            ExecutionServices(
                settings=self.settings,
                web=self._web,
                search_threads=self._searching,
                answering=self.store.answering,
                checkpoints=self._checkpoints,
            ),
        )
        opened.callback(self._runs.stop)

    def _make_subjects(self) -> None:
        """Makes the objects of the other subjects: most of them use the runs."""
        self.run_list = RunList(self.history.database)
        self.shares = Shares(self.history)
        self.exports = Exports(self.history, self.store.access.audit)
        self.comparisons = Comparisons(self.history, self._models, self._runs)
        self.forks = Forks(self.history, self._models, self._runs, self._checkpoints, self._loop)
        self.personal_data = PersonalData(
            self.settings,
            self.store,
            self.history,
            self.usage,
            runs=self._runs,
            suggestions=self.suggestions,
            removal=self._removal,
        )

    def _begin(self, opened: ExitStack) -> None:
        """Begins what goes on beside the runs, when everything is there that it may call."""
        forget_runs = self._runs.forget_finished
        if self._exchange:
            self._exchange.begin(self._runs.here, on_removal=self._removal.look, forget_runs=forget_runs)
            self._removal.begin(forget_runs, self._exchange.notify_of_removal)
        else:
            self._removal.begin(forget_runs)
        self._retention = Retention(
            self.settings,
            self.store.access.audit,
            self.history,
            self.usage,
            self._removal,
            forget_runs,
            self.personal_data.delete_of_erased,
        )
        self._retention.begin()
        opened.callback(self._retention.close)

    def close(self) -> None:
        """Stops all runs and frees everything, even if a part can't be closed."""
        self._opened.close()

    def _in_loop(self, work: Callable[[], Coroutine[object, object, T]]) -> T:
        """Waits for the work."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()

    async def _steps_end(self) -> None:
        """Waits for steps and checkpoints that LangGraph has left behind.

        A stop that comes while LangGraph waits for them interrupts it. Their requests and files would stay open.
        """
        left = asyncio.all_tasks() - self._tasks_of_no_run - {asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=ENDING)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def as_user(self, who: CurrentPrincipal) -> "UserEngine":
        """The facade for one person."""
        return UserEngine(self, who)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The chat models that a comparison can choose from, the usual one first."""
        return self._models.names

    def ask(self, new: NewRun) -> Run:
        """Begins a run and returns at once. Attachments are loaded first.

        Raises UnknownPipeline, UnknownMode, UnknownUnit, BadHitCount, EmptyQuestion, QuestionTooLong, NotSaved,
        TokensUsedUp; then no run has begun, but the attachments are added. Every later error ends the run and is in its
        `run_finished`.
        """
        try:
            pending = self._runs.begin(new)
        except PlainError:
            # The question can be asked again, but the files exist nowhere else.
            if new.attachments:
                new.asker.store.ingest(new.index, new.attachments)
            raise
        self.suggestions.drop(pending.run.conversation_id)
        self._runs.start(pending, suggests=new.suggests)
        return pending.run

    def run(self, run_id: str) -> Run | None:
        """A run that this process began and still remembers, or that another app works on; `history` has the others."""
        return self._runs.get(run_id)

    def events(self, run_id: str) -> Sequence[Event]:
        """The events so far, with the tokens if the run is in flight. Empty if there is no such run."""
        run = self.run(run_id)
        return run.events if run else self.history.events(run_id)

    @property
    def runs_in_flight(self) -> int:
        """The number of runs that are at work or wait for their turn."""
        return self._runs.count

    def running(self, conversation_id: str) -> Run | None:
        """The conversation's run in flight; the latest if there are several."""
        return next(reversed(self._runs.of(conversation_id)), None)

    def delete_conversation(self, conversation_id: str) -> None:
        """Deletes a conversation with its runs and their forks. Runs in flight are stopped first."""
        for id_ in self.history.conversations.with_forks(conversation_id):
            self._runs.stop(id_)
            self.suggestions.drop(id_)
        self.history.conversations.delete(conversation_id)
        self._removal.sweep()

    def _clear_up(self) -> None:
        """Cleans up after apps that have ended."""
        replica, active_runs = self.store.replica, self.history.active_runs
        if replica and active_runs:
            at_work = active_runs.apps()
            # The order matters: an app that has a run was alive before. Alive apps are read last.
            interrupted = self.history.close_interrupted_runs(at_work - replica.alive())
            discard_all_uploads(self.settings.data_dir, older=UPLOAD_SECONDS)
        else:
            interrupted = self.history.close_interrupted_runs()
            discard_all_uploads(self.settings.data_dir)
        note_interrupted(self.store.access.audit, interrupted)

    def _open_exchange(self) -> "RunExchange | None":
        replica, active_runs = self.store.replica, self.history.active_runs
        if not (replica and active_runs):
            return None
        from rag.runs.replicas.exchange import RunExchange

        # Each app has its own embedded model. A service is the same for all apps.
        at_once = math.inf if self._models.usual.is_in_app else self.settings.runs_at_once
        of_one_party = self.settings.runs_per_person
        return RunExchange(
            self.store, self.history, active_runs, replica, loop=self._loop, at_once=at_once, of_one_party=of_one_party
        )

    def _may_be_asked(self) -> bool:
        return self.settings.preload and any(index.documents for index in self.store.indexes())

    def _open_checkpoints(self) -> Checkpoints | None:
        where = self.settings.data_dir, self.settings.database_url
        if not self.settings.keep_checkpoints_days:
            with suppress(OSError, DatabaseError):
                discard(*where)
            return None
        return self._in_loop(partial(Checkpoints.open, *where))


class UserEngine:
    """The engine as one person sees it. Each call first asks who the person is now. Other people's objects look as if
    they did not exist.

    Each method raises AccessWithdrawn and the errors of the engine's method.
    """

    def __init__(self, engine: Engine, who: CurrentPrincipal) -> None:
        """`who`: may be called in any thread."""
        self._engine = engine
        self._ownership = Ownership(engine.history.database, who)
        self.store = engine.store.as_user(who)
        self.history = UserHistory(engine.history, who)
        self.run_list = UserRunList(engine.run_list, self._ownership)
        self.shares = UserShares(engine.shares, engine.history, self._ownership, engine.store.access)
        self.exports = UserExports(engine.exports, self.history, who)
        self.comparisons = UserComparisons(engine.comparisons, self._ownership, self._asker)
        self.forks = UserForks(engine.forks, self._ownership, self._asker)
        self.suggestions = UserSuggestions(engine.suggestions, self._ownership)
        self.preload = UserPreload(engine.preload, who)
        self.usage = UserDailyUsage(engine.usage, who)
        self.personal_data = UserPersonalData(engine.personal_data, engine.store.access, who)

    @property
    def settings(self) -> Settings:
        self._ownership.who()
        return self._engine.settings

    @property
    def model_names(self) -> tuple[str, ...]:
        self._ownership.who()
        return self._engine.model_names

    @property
    def runs_in_flight(self) -> int:
        """The runs of everybody: how busy the engine is."""
        self._ownership.who()
        return self._engine.runs_in_flight

    def ask(
        self,
        question: str,
        *,
        index: str,
        pipeline_name: str,
        conversation_id: str | None = None,
        attachments: Sequence[FileSource] = (),
        retrieval: Retrieval | None = None,
        style: Style | None = None,
        through: str | None = None,
        edits: str | None = None,
        again: str | None = None,
        suggests: bool = False,
    ) -> Run:
        """`retrieval`: replaces the pipeline's; `style`: replaces the settings'; for the others see `NewRun`. If the
        conversation is someone else's or deleted, a new one begins.
        """
        try:
            asker = self._asker()
            is_theirs = conversation_id is not None and self._ownership.has_conversation(conversation_id)
        except PlainError:
            discard_uploads(attachments)
            raise
        return self._engine.ask(
            NewRun(
                question,
                index,
                RunOptions(pipeline=pipeline_name, retrieval=retrieval, style=style),
                asker,
                conversation_id if is_theirs else None,
                attachments,
                through=through,
                edits=edits,
                again=again,
                suggests=suggests,
            )
        )

    def run(self, run_id: str) -> Run | None:
        return self._engine.run(run_id) if self._ownership.has_run(run_id) else None

    def events(self, run_id: str) -> Sequence[Event]:
        return self._engine.events(run_id) if self._ownership.has_run(run_id) else []

    def running(self, conversation_id: str) -> Run | None:
        return self._engine.running(conversation_id) if self._ownership.has_conversation(conversation_id) else None

    def delete_conversation(self, conversation_id: str) -> None:
        if self._ownership.has_conversation(conversation_id):
            who = self._ownership.who()
            self._engine.delete_conversation(conversation_id)
            self._engine.store.access.audit.note(Action.CONVERSATION_DELETED, who, conversation=conversation_id)

    def _asker(self) -> Asker:
        store, principal = self._engine.store, self._ownership.who()
        who = partial(store.access.principal, principal.id)
        return Asker(principal, who, store.access.gate(who), store.as_user(who))

"""The history for one person: each call checks who they are now, and shows only what they own.

Other people's objects look as if they did not exist: no result and no error shows a difference.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal

from index_store.access.access import Access
from index_store.access.audit.entry import Action
from index_store.access.gate import CurrentPrincipal
from index_store.access.principal import Role
from index_store.base.errors import AdminNeeded
from rag.errors import NothingOfThisName, SharerOut, UnknownRun, UnknownShare
from rag.runs.history.calls import Calls
from rag.runs.history.conversations.branches import Branch
from rag.runs.history.conversations.conversations import Conversation, Conversations
from rag.runs.history.daily_usage import DailyUsage, PersonUsage
from rag.runs.history.for_people.run_list import Order, RunFilter, RunList
from rag.runs.history.for_people.shares import NewShare, Share, Shared, Shares
from rag.runs.history.history import History, PastRun, RunOutline, following
from rag.runs.history.ownership import Ownership
from rag.trace.calls import Call
from rag.trace.derived.cause import Cause
from rag.trace.derived.standalone import STANDALONE_STEP, without_earlier_turns
from rag.trace.details import Turn
from rag.trace.events import Event

MayRead = Callable[[Collection[str]], set[str]]
"""the runs among these that someone may read"""


class UserCalls:
    def __init__(self, calls: Calls, may_read: MayRead) -> None:
        self._calls = calls
        self._may_read = may_read

    def of_step(self, run_id: str, step: str, attempt: int) -> tuple[Call, ...]:
        return self._calls.of_step(run_id, step, attempt) if self._may_read([run_id]) else ()


class SharedCalls(UserCalls):
    def __init__(self, calls: Calls, may_read: MayRead, *, with_turns: Collection[str]) -> None:
        """`with_turns`: the runs that are shown with what was said before them."""
        super().__init__(calls, may_read)
        self._with_turns = with_turns

    def of_step(self, run_id: str, step: str, attempt: int) -> tuple[Call, ...]:
        if step == STANDALONE_STEP and run_id not in self._with_turns:
            return ()
        return super().of_step(run_id, step, attempt)


class Traces:
    """The traces of some runs."""

    def __init__(self, history: History, may_read: MayRead) -> None:
        self._history = history
        self._may_read = may_read
        self.calls = UserCalls(history.calls, may_read)

    def events(self, run_id: str) -> list[Event]:
        return self._history.events(run_id) if self._may_read([run_id]) else []

    def outlines_of(self, runs: Sequence[PastRun]) -> list[RunOutline]:
        readable = self._may_read([run.id for run in runs])
        return self._history.outlines_of([run for run in runs if run.id in readable])


class UserConversations:
    def __init__(self, conversations: Conversations, ownership: Ownership) -> None:
        self._conversations = conversations
        self._ownership = ownership

    def listed(self, words: str = "", *, latest: int | None = None) -> list[Conversation]:
        return self._conversations.listed(words, latest=latest, principal=self._ownership.who())

    def count(self, words: str = "") -> int:
        return self._conversations.count(words, principal=self._ownership.who())

    def get(self, conversation_id: str) -> Conversation | None:
        return self._conversations.get(conversation_id) if self._ownership.has_conversation(conversation_id) else None

    def exists(self, conversation_id: str) -> bool:
        return self._ownership.has_conversation(conversation_id)

    def rename(self, conversation_id: str, title: str) -> None:
        if self._ownership.has_conversation(conversation_id):
            self._conversations.rename(conversation_id, title)


class UserHistory(Traces):
    def __init__(self, history: History, who: CurrentPrincipal) -> None:
        self._ownership = Ownership(history.database, who)
        super().__init__(history, self._ownership.runs)
        self.conversations = UserConversations(history.conversations, self._ownership)

    @property
    def set_aside(self) -> Path | None:
        """Only for an admin, because others can't do anything about it."""
        return self._history.set_aside if self._ownership.who().role is Role.ADMIN else None

    def runs(self, conversation_id: str | None = None, *, branch: Branch | None = None) -> list[PastRun]:
        return self._history.runs(conversation_id, branch=branch, principal=self._ownership.who())

    def run(self, run_id: str) -> PastRun | None:
        return self._history.run(run_id) if self._ownership.has_run(run_id) else None

    def stored_run(self, run_id: str) -> PastRun:
        if not self._ownership.has_run(run_id):
            raise UnknownRun()
        return self._history.stored_run(run_id)

    def branch(self, conversation_id: str, *, through: str | None = None) -> Branch:
        if not self._ownership.has_conversation(conversation_id):
            return Branch()
        return self._history.branch(conversation_id, through=through)

    def title(self, conversation_id: str, branch: Branch) -> str | None:
        if not self._ownership.has_conversation(conversation_id):
            return None
        return self._history.title(conversation_id, branch)

    def outlines(self, conversation_id: str, latest: int, *, branch: Branch | None = None) -> list[RunOutline]:
        if not self._ownership.has_conversation(conversation_id):
            return []
        return self._history.outlines(conversation_id, latest, branch=branch)

    def turns(self, conversation_id: str, *, before: str, branch: Branch | None = None) -> tuple[Turn, ...]:
        if not self._ownership.has_conversation(conversation_id):
            return ()
        return self._history.turns(conversation_id, before=before, branch=branch)

    def rate(self, run_id: str, feedback: Literal[-1, 1] | None) -> None:
        if self._ownership.has_run(run_id):
            self._history.rate(run_id, feedback)

    def explain_feedback(self, run_id: str, reason: str) -> None:
        if self._ownership.has_run(run_id):
            self._history.explain_feedback(run_id, reason)


class UserDailyUsage:
    def __init__(self, usage: DailyUsage, who: CurrentPrincipal) -> None:
        self._usage = usage
        self._who = who

    def by_person(self) -> list[PersonUsage]:
        """Raises AdminNeeded."""
        if self._who().role is not Role.ADMIN:
            raise AdminNeeded()
        return self._usage.by_person()

    def of(self, person_id: str | None = None) -> PersonUsage:
        """The person's own usage; for admins, also that of others. Raises AdminNeeded."""
        who = self._who()
        if person_id not in (None, who.id) and who.role is not Role.ADMIN:
            raise AdminNeeded()
        return self._usage.of(person_id or who.id)


class UserRunList:
    def __init__(self, run_list: RunList, ownership: Ownership) -> None:
        self._run_list = run_list
        self._ownership = ownership

    def page(self, filters: RunFilter, order: Order, *, first: int, count: int) -> list[PastRun]:
        return self._run_list.page(filters, order, first=first, count=count, principal=self._ownership.who())

    def count(self, filters: RunFilter) -> int:
        return self._run_list.count(filters, principal=self._ownership.who())

    def count_through(self, run_id: str, filters: RunFilter, order: Order) -> int:
        return self._run_list.count_through(run_id, filters, order, principal=self._ownership.who())

    def existing(self, run_ids: Collection[str]) -> set[str]:
        return self._run_list.existing(run_ids, principal=self._ownership.who())

    def pipelines(self) -> list[str]:
        return self._run_list.pipelines(principal=self._ownership.who())

    def indexes(self) -> list[str]:
        return self._run_list.indexes(principal=self._ownership.who())

    def set_cause(self, run_id: str, cause: Cause | None) -> None:
        if self._ownership.has_run(run_id):
            self._run_list.set_cause(run_id, cause)


class SharedTraces(Traces):
    """The content of a link when it was opened, and its traces while it still shows them. Documents are only for people
    who may read them without the link. Of a conversation before a run, only runs that are shown too are in its trace.
    """

    def __init__(self, history: History, shown: Shared, look: Callable[[], Shared]) -> None:
        """`look`: reads the content again. Raises AccessWithdrawn, UnknownShare."""
        super().__init__(history, self._still_shown)
        self.share = shown.share
        self.runs = shown.runs
        self._look = look
        self._with_turns = following(shown.runs)
        self.calls = SharedCalls(history.calls, self._still_shown, with_turns=self._with_turns)

    def events(self, run_id: str) -> list[Event]:
        found = super().events(run_id)
        return found if run_id in self._with_turns else [without_earlier_turns(each) for each in found]

    def _still_shown(self, run_ids: Collection[str]) -> set[str]:
        try:
            return {run.id for run in self._look().runs} & set(run_ids)
        except UnknownShare:
            return set()


class UserShares:
    def __init__(self, shares: Shares, history: History, ownership: Ownership, access: Access) -> None:
        self._audit = access.audit
        self._people = access.people
        self._shares = shares
        self._history = history
        self._ownership = ownership

    def add(self, of: str, *, through: str | None = None) -> NewShare:
        if not (self._ownership.has_run(of) or self._ownership.has_conversation(of)):
            raise NothingOfThisName(name=of)
        who = self._ownership.who()
        made = self._shares.add(of, through=through, principal=who)
        self._audit.note(Action.SHARED, who, kind=made.share.kind, what=of, share=made.share.id)
        return made

    def listed(self, of: str | None = None, *, latest: int | None = None) -> list[Share]:
        return self._shares.listed(of, latest=latest, principal=self._ownership.who())

    def count(self) -> int:
        return self._shares.count(principal=self._ownership.who())

    def revoke(self, share_id: str) -> None:
        who = self._ownership.who()
        if self._shares.revoke(share_id, principal=who):
            self._audit.note(Action.SHARE_REVOKED, who, share=share_id)

    def shared(self, token: str, *, again: bool = False) -> SharedTraces:
        """For everybody who has access to the app. `again`: a person who has opened the link reads it once more.

        Raises UnknownShare; SharerOut if the person who made it is disabled.
        """
        who = self._ownership.who()

        def look() -> Shared:
            self._ownership.who()
            found = self._shares.shared(token)
            if self._people.is_disabled(found.share.person):
                raise SharerOut()
            return found

        found = look()
        if not again:
            share = found.share
            facts = {"kind": share.kind, "what": share.run_id or share.conversation_id, "share": share.id}
            self._audit.note(Action.SHARE_OPENED, who, whose=share.person, **facts)
        return SharedTraces(self._history, found, look)

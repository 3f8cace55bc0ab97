"""What must be in a store, calculated from the lines that its process has written: see churn.py."""

from collections import defaultdict
from dataclasses import dataclass, field

from index_store.catalogue.records import Document, DocumentStatus
from index_store.store.index_store import IndexStore
from tests.index_store.churn import ARCHIVES, mark, members

Versions = set[int | None]
"""versions that a source may have; None: it may be missing"""


@dataclass
class Operation:
    what: str
    index: str
    versions: dict[str, int | None]


@dataclass
class Ledger:
    """For each index and source, the possible versions. After an acknowledgement, only one is possible."""

    allowed: dict[tuple[str, str], Versions] = field(default_factory=lambda: defaultdict(lambda: {None}))
    under_way: dict[int, Operation] = field(default_factory=dict)
    unsettled: set[tuple[str, str]] = field(default_factory=set)
    """sources that may be pending, because a newer version was being added"""
    may_return: dict[tuple[str, str], Versions] = field(default_factory=lambda: defaultdict(set))
    """members of archives that were cancelled or killed: a retry adds all of them again, even those removed since"""
    faults: list[dict] = field(default_factory=list)
    """failures that the test does not expect"""

    def read(self, line: dict) -> None:
        number = line["number"]
        if "doing" in line:
            self.under_way[number] = Operation(line["doing"], line.get("index", ""), line.get("versions", {}))
            self._begin(self.under_way[number])
        elif "done" in line:
            self._end(self.under_way.pop(number), is_cancelled=line["is_cancelled"])
        elif "failed" in line:
            self.faults.append(line)
        else:
            self._acknowledge(self.under_way[number], line["source"], is_gone=line["is_gone"])

    def _begin(self, operation: Operation) -> None:
        for source, version in self._sources(operation):
            self.allowed[source].add(version)
            self.unsettled.add(source)
            if operation.what == "archive":
                self.may_return[source].add(version)

    def _acknowledge(self, operation: Operation, source: str, *, is_gone: bool) -> None:
        key = (operation.index, source)
        version = operation.versions.get(source, operation.versions.get(source.partition("/")[0]))
        if is_gone:
            self.allowed[key] = {None}
        elif version is not None:
            self.allowed[key] = {version, None} if self._is_being_dropped(operation.index) else {version}
        self.unsettled.discard(key)

    def _is_being_dropped(self, index: str) -> bool:
        """Whether the index is being deleted, together with all that its jobs have added."""
        return any(each.what == "drop" and each.index == index for each in self.under_way.values())

    def _end(self, operation: Operation, *, is_cancelled: bool) -> None:
        if operation.what == "archive" and not is_cancelled:
            for key, version in self._sources(operation):
                self.may_return[key].discard(version)
        if operation.what in ("remove", "drop"):
            for key, _ in self._sources(operation):
                self.allowed[key] = {None}
                self.unsettled.discard(key)

    def _sources(self, operation: Operation) -> list[tuple[tuple[str, str], int | None]]:
        match operation.what:
            case "drop":
                return [(key, None) for key in list(self.allowed) if key[0] == operation.index]
            case "archive":
                ((archive, version),) = operation.versions.items()
                new = members(archive, version)
                every = {f"{archive}/{name}" for name in ARCHIVES[archive]}
                return [((operation.index, source), version if source in new else None) for source in every]
            case _:
                return [((operation.index, source), version) for source, version in operation.versions.items()]

    # Comparison with the store

    def differences(self, store: IndexStore, unsearchable: set[str], *, is_settled: bool) -> list[str]:
        """`unsearchable`: indexes whose documents may be pending, because another model must embed them.

        `is_settled`: whether nothing may be pending any more.
        """
        there = {(each.index, each.source): each for each in store.documents() if each.source not in ARCHIVES}
        found = [
            *(f"{key} was never given" for key in there.keys() - self.allowed.keys()),
            *(f"{key} is {document.status}: {document.error}" for key, document in there.items()
              if is_settled and document.status is not DocumentStatus.READY),
        ]  # fmt: skip
        for key, versions in self.allowed.items():
            document = there.get(key)
            may_be_open = not is_settled and (key in self.unsettled or key[0] in unsearchable)
            if document is None or document.status is not DocumentStatus.READY:
                if None not in versions and not may_be_open:
                    found.append(f"{key} is lost: {document}")
                continue
            versions = versions | self.may_return[key]
            if versions == {None}:
                found.append(f"{key} is there again: {document}")
                continue
            seen = self._seen(store, document, versions)
            if seen is None:
                found.append(f"{key} is in none of the versions {versions}: {store.sections(document.id)[0].text}")
            elif key[0] not in unsearchable:
                found += [
                    f"{key} in version {seen} is not found by {mode}" for mode in self._not_found(store, document, seen)
                ]
        return found

    def settle(self, store: IndexStore) -> None:
        """Called when nothing is pending: from now on, exactly the present content is expected."""
        there = {(each.index, each.source): each for each in store.documents()}
        for key, versions in self.allowed.items():
            seen = self._seen(store, there[key], versions | self.may_return[key]) if key in there else None
            self.allowed[key] = {seen}
        self.unsettled.clear()

    @staticmethod
    def _seen(store: IndexStore, document: Document, versions: Versions) -> int | None:
        text = "".join(section.text for section in store.sections(document.id))
        return next((each for each in versions if each is not None and mark(document.source, each) in text), None)

    @staticmethod
    def _not_found(store: IndexStore, document: Document, version: int) -> list[str]:
        """The search modes that do not find the document by its own words, which no other document has."""
        texts = {section.id: section.text for section in store.sections(document.id)}
        chunks = [texts[chunk.section_id][chunk.start : chunk.end] for chunk in store.chunks(document.id)]
        question = next(chunk for chunk in chunks if mark(document.source, version) in chunk)
        return [
            mode
            for mode in ("vector", "keyword")
            if all(hit.text != question for hit in store.search(document.index, question, mode=mode, k=3))
        ]

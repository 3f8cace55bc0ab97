"""Four prepared faults, each to be seen from the pages: `python -m pages.samples.faults`, while the app does not run.

It loads four small indexes into the data folder of the settings, and says what to ask of each. Ask in the chat, then
open the run on the page Runs, where *Why no good answer* names the fault:

- `fault-1`, no document: nothing in the index is about sabbaticals.
- `fault-2`, present but not found: the part stands in passing in a section on something else, and vector search brings
  parts of like numbers. With Options, Search: Hybrid it is found.
- `fault-3`, found but graded away: start the app with CRAG_LOWER=1 and CRAG_UPPER=1, by which no grade is good enough.
- `fault-4`, misread: a cell of a table is easily read a line or a column off. Where the answer is wrong, and no check
  has noticed, a thumb down says so.

What a model grades and reads differs from one to the next; the first two were seen with the embedded one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from index_store.store import IndexStore
from rag.settings import Settings
from rag.trace.cause import Cause

_HERE = Path(__file__).parent / "faulty"


@dataclass(frozen=True)
class Fault:
    cause: Cause
    index: str
    folder: str
    pipeline: str
    questions: tuple[str, str]
    """in Japanese and in English"""

    def documents(self) -> list[Path]:
        return sorted((_HERE / self.folder).iterdir())


FAULTS = (
    Fault(
        "no_document",
        "fault-1",
        "missing",
        "self_rag",
        ("サバティカル休暇は勤続何年で取れますか？", "How many years of service earn a sabbatical?"),
    ),
    Fault("not_found", "fault-2", "not-found", "self_rag", ("部品QF-7712は何ですか？", "What is part ZT-4083?")),
    Fault(
        "graded_away",
        "fault-3",
        "graded-away",
        "corrective",
        ("私傷病で3日以上欠勤するときは何を提出しますか？", "Who hands a physician's certificate in?"),
    ),
    Fault(
        "misread",
        "fault-4",
        "misread",
        "naive",
        ("課長が日帰りで出張したときの日当はいくらですか？", "What is the rate for a bicycle beyond 50 km?"),
    ),
)


def load(store: IndexStore) -> Iterator[Fault]:
    """Each once its documents are in its index. Raises PlainError."""
    for fault in FAULTS:
        for path in fault.documents():
            result = store.add(fault.index, path, path.name)
            if result.error:
                raise SystemExit(result.error.en)
        yield fault


if __name__ == "__main__":
    with IndexStore(Settings()) as store:
        for fault in load(store):
            print(fault.index, fault.pipeline, *fault.questions, fault.cause, sep="\t")

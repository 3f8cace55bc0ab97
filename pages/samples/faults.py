"""Four prepared faults to see on the pages: `python -m pages.samples.faults`, while the app does not run.

It loads four small indexes into the data folder of the settings, and says what to ask of each. docs/guide.md walks
through them. With the embedded models, PIPELINE and nothing else set each is met as told; a service's model that reads
and grades better may answer the last two.

    no_document   nothing in the index is about sabbaticals
    not_found     the part stands in passing in a section on something else, and parts of like numbers are nearer by
                  vector; keyword search finds it
    graded_away   to a question whose answer is no, the grader says no of the very passage that tells so
    misread       a sentence that has to be read with care: who hands it in, not to whom; which amount is whose. The
                  check of the answer notices it. A pipeline without checks would not: then only a person can tell
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from index_store.base.errors import PlainError
from index_store.store import IndexStore
from rag.settings import Settings
from rag.text.language import Language
from rag.trace.cause import Cause

PIPELINE = "self_rag"
"""in which all of them are met"""

_HERE = Path(__file__).parent / "faulty"


@dataclass(frozen=True)
class Fault:
    cause: Cause
    index: str
    folder: str
    questions: dict[Language, str]

    def documents(self) -> list[Path]:
        return sorted((_HERE / self.folder).iterdir())


FAULTS = (
    Fault(
        "no_document",
        "fault-1",
        "missing",
        {"ja": "サバティカル休暇は勤続何年で取れますか？", "en": "How many years of service earn a sabbatical?"},
    ),
    Fault("not_found", "fault-2", "not-found", {"ja": "部品QF-7712は何ですか？", "en": "What is part ZT-4083?"}),
    Fault(
        "graded_away",
        "fault-3",
        "graded-away",
        {"ja": "日曜日に屋上駐車場は使えますか？", "en": "May I bring my dog to work?"},
    ),
    Fault(
        "misread",
        "fault-4",
        "misread",
        {
            "ja": "一般社員が宿泊を伴う出張をしたときの日当はいくらですか？",
            "en": "Who hands a physician's certificate in?",
        },
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
    try:
        with IndexStore(Settings()) as store:
            for fault in load(store):
                print(fault.index, fault.cause, *fault.questions.values(), sep="\t")
    except PlainError as error:
        sys.exit(str(error))

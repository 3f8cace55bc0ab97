"""Four prepared faults to see on the pages: `python -m pages.samples.faults`, while the app does not run.

It loads four small indexes into the data folder of the settings and prints a question for each. docs/guide.md explains
them step by step. With the embedded models, PIPELINE and default settings, each fault happens as described; a service's
model that reads and grades better may answer the last two.

    no_document   nothing in the index is about sabbaticals
    not_found     the fact is mentioned in a section on something else, and parts with similar numbers are nearer by
                  vector; keyword search finds it
    graded_away   the answer to the question is no, and the grader says no about the passage that states it
    misread       a sentence that needs careful reading: who hands it in, not to whom; which amount is whose. The check
                  of the answer notices it. In a pipeline without checks, only a person can notice it
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from index_store.base.command_line.commands import write, write_utf8
from index_store.base.command_line.language import language_of_environment
from index_store.base.errors import PlainError
from index_store.store.index_store import IndexStore
from rag.settings import Settings
from rag.text.language import Language
from rag.trace.derived.cause import Cause

PIPELINE = "self_rag"
"""all four happen in it"""

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
    """Yields each fault when its documents are in its index. Raises PlainError."""
    for fault in FAULTS:
        for path in fault.documents():
            result = store.add(fault.index, path, path.name)
            if result.error:
                raise SystemExit(result.error.sentence(language_of_environment()))
        yield fault


def main() -> None:
    write_utf8()
    try:
        with IndexStore(Settings()) as store:
            for fault in load(store):
                write("\t".join([fault.index, fault.cause, *fault.questions.values()]))
    except PlainError as error:
        sys.exit(error.sentence(language_of_environment()))


if __name__ == "__main__":
    main()

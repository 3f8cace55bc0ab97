"""Four prepared faults, each to be seen from the pages: `python -m pages.samples.faults`, while the app does not run.

It loads four small indexes into the data folder of the settings. Ask these in the chat, then open the run on the page
*Runs*, where *Why no good answer* names the fault:

    index          question                                        pipeline    the fault
    fault-1        サバティカル休暇は勤続何年で取れますか？        self_rag    no_document: no document is on it
                   How many years of service earn a sabbatical?
    fault-2        部品QF-7712は何ですか？                         naive       not_found: it stands in the section on
                   What is part ZT-4083?                                       air conditioning (the forklift), and vector
                                                                               search brings parts of like numbers; hybrid
                                                                               finds it
    fault-3        私傷病で3日以上欠勤するときは何を提出しますか？ corrective  graded_away: with CRAG_LOWER=1 and
                   Who hands a physician's certificate in?                     CRAG_UPPER=1 no passage is ever good enough
    fault-4        課長が日帰りで出張したときの日当はいくらですか？ naive      misread: a table is easily read a line or
                   What is the rate for a bicycle beyond 50 km?                a column off; a thumb down says so

What a model grades and reads differs from one to the next, so the third is brought about by settings, and the last one
is the reader's to judge.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from index_store.store import IndexStore
from rag.settings import Settings
from rag.trace.cause import Cause

_HERE = Path(__file__).parent / "faulty"


class Fault(NamedTuple):
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
    Fault("not_found", "fault-2", "not-found", "naive", ("部品QF-7712は何ですか？", "What is part ZT-4083?")),
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

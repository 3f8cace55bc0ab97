"""What tells documents of the same title apart: the part of their sources that differs, such as a folder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile

from index_store.search.hits import TextLocation
from rag.trace.passages import Citation


def told_apart(places: Iterable[Citation | TextLocation]) -> Mapping[str, str]:
    """By source, without the documents whose title no other has.

    rules.zip/2024/travel.txt and rules.zip/2025/travel.txt -> 2024 and 2025
    """
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for place in places:
        sources[place.title].add(place.source)
    return {
        source: difference
        for same in sources.values()
        if len(same) > 1
        for source, difference in _differences(same).items()
    }


def _differences(sources: Iterable[str]) -> dict[str, str]:
    parts = {source: source.split("/") for source in sources}
    for _ in range(2):
        # What is the same at the start, then at the end.
        common = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, zip(*parts.values(), strict=False)))
        parts = {source: each[common:][::-1] for source, each in parts.items()}
    return {source: "/".join(each) for source, each in parts.items()}

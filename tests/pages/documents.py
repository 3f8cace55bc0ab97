"""Documents for the tests of the pages."""

from pathlib import Path

HANDBOOK = (
    "# Travel\n\n## Allowance\n\n一般社員の国内出張の日当は1日2,500円です。\n\n"
    "## Trains\n\nThe green car needs the approval of a director.\n"
)


def add(engine, tmp_path: Path, *names: str, text: str = HANDBOOK, index: str = "handbook") -> list[str]:
    """Adds documents with these names; returns their ids."""
    ids = []
    for name in names:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        added = engine.store.add(index, file, name)
        assert added.error is None
        ids.append(added.document_id)
    return ids

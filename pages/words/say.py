"""The texts of the pages in the reader's language."""

from pages.texts import texts
from pages.words.reader import language


def say(key: str, **parts: object) -> str:
    """The text of `key` in the reader's language. Without a text, the name in the key, as for a step that only a newer
    version knows.
    """
    text = texts(language()).get(key)
    return key.partition(".")[2].replace("_", " ") if text is None else text.format(**_written(parts))


def _written(parts: dict[str, object]) -> dict[str, object]:
    """Counts with separators: 20,000. A number that is a name, such as that of a page, must come as text."""
    return {name: f"{part:,}" if isinstance(part, int) else part for name, part in parts.items()}


def counted(key: str, count: int) -> str:
    """A text with a number in it; English has another form for one."""
    return say(f"{key}_one") if count == 1 else say(key, count=count)

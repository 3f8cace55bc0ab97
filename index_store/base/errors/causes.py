"""The errors from which an error came."""

from collections.abc import Iterator


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error itself, then what it was raised from, back to the first one."""
    while error:
        yield error
        error = error.__cause__ or error.__context__

"""The language of what command lines print."""

import os


def language_of_environment() -> str:
    """ "ja" or "en"."""
    # In the order in which POSIX reads them.
    first = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "ja" if first.lower().startswith("ja") else "en"

"""The base of all errors of the app: a sentence in each language for people, and data that can be stored."""

import re
from typing import ClassVar

from pydantic import BaseModel


class Failure(BaseModel, frozen=True):
    """Sentences as data, for the catalogue, the history and JSON output."""

    code: str
    en: str
    ja: str

    def sentence(self, language: str) -> str:
        return self.ja if language == "ja" else self.en


class Sentences:
    """What people are told, in each language.

    A subclass defines `en` and `ja`, format strings that use the keyword arguments. These must not contain secrets.
    """

    en: ClassVar[str]
    ja: ClassVar[str]

    def __init__(self, **details: object) -> None:
        self.details = details

    @property
    def code(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def sentence(self, language: str) -> str:
        """The sentence in `language`, "ja" or "en"."""
        return (self.ja if language == "ja" else self.en).format(**self.details)

    def as_failure(self) -> Failure:
        return Failure(code=self.code, en=self.sentence("en"), ja=self.sentence("ja"))


class PlainError(Sentences, Exception):
    """An error whose sentences a person can read and act on."""

    en: ClassVar[str] = "Something went wrong: {what}. See the log of the app."
    ja: ClassVar[str] = "問題が起きました({what})。アプリのログを確認してください。"

    def __init__(self, **details: object) -> None:
        super().__init__(**details)
        Exception.__init__(self, self.sentence("en"))


class IndexStoreError(PlainError):
    """The base of all errors of the index store."""

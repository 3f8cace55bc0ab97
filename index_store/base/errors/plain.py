"""The base of all errors of the app: a sentence in each language for people, and data that can be stored."""

import re
from typing import ClassVar

from pydantic import BaseModel


class Failure(BaseModel, frozen=True):
    """A PlainError as data, for the catalogue, the history and JSON output. It keeps its sentences."""

    code: str
    en: str
    ja: str

    def sentence(self, language: str) -> str:
        return self.ja if language == "ja" else self.en


class PlainError(Exception):
    """An error whose sentences a person can read and act on.

    A subclass defines `en` and `ja`, format strings that use the keyword arguments of the error. These must not contain
    secrets.
    """

    en: ClassVar[str] = "Something went wrong: {what}. See the log of the app."
    ja: ClassVar[str] = "問題が起きました({what})。アプリのログを確認してください。"

    def __init__(self, **details: object) -> None:
        self.details = details
        super().__init__(self.sentence("en"))

    @property
    def code(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def sentence(self, language: str) -> str:
        """The error in `language`, "ja" or "en"."""
        return (self.ja if language == "ja" else self.en).format(**self.details)

    def as_failure(self) -> Failure:
        return Failure(code=self.code, en=self.sentence("en"), ja=self.sentence("ja"))


class IndexStoreError(PlainError):
    """The base of all errors of the index store."""

"""A handbook of an invented company to try the pipelines, with questions that show what each pipeline is good at.

The company, its product and its people don't exist. Documents are named `topic.language.kind`.
"""

import tomllib
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, model_validator

from index_store.access.grants import EVERYONE
from index_store.access.rights import Right
from index_store.ingestion.sources import FileSource
from index_store.store.user_store import UserStore

INDEX = "handbook"
"""the index for the samples"""

_HERE = Path(__file__).parent


class SampleQuestion(BaseModel, frozen=True, extra="forbid"):
    text: str
    language: Literal["ja", "en"]
    pipeline: str
    """its name in the registry; skip a pipeline that is not there"""
    shows_ja: str
    shows_en: str
    answer: str = ""
    """a fact, worded as in the document; empty if the handbook does not contain the answer"""
    document: str | None = None
    """file name of the document with the answer"""

    @model_validator(mode="after")
    def _an_answer_has_a_document(self) -> Self:
        if bool(self.answer) != bool(self.document):
            raise ValueError(f"answer and document go together: {self.text}")
        return self

    def shows(self, language: str) -> str:
        """What the question shows about its pipeline. `language`: "ja" or "en"."""
        return self.shows_ja if language == "ja" else self.shows_en


def documents() -> list[Path]:
    """The handbook's files, Markdown and HTML, sorted by name."""
    return sorted(path for path in (_HERE / "documents").iterdir() if path.suffix in {".md", ".html"})


def load(store: UserStore) -> None:
    """Starts to load them for everyone who signs in. The index belongs to the person who does this.
    Raises PlainError.
    """
    if INDEX not in {index.name for index in store.indexes()}:
        store.create_index(INDEX)
        store.access.grants.give(INDEX, EVERYONE, Right.READ)
    store.ingest(INDEX, [FileSource(path, path.name) for path in documents()])


def questions() -> list[SampleQuestion]:
    """The suggested questions, in the order of the page."""
    entries = tomllib.loads((_HERE / "questions.toml").read_text(encoding="utf-8"))["questions"]
    return [SampleQuestion.model_validate(entry) for entry in entries]

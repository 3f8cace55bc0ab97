"""The texts of the pages in the reader's language."""

import pytest

from pages.words.reader import Reader, written_for
from pages.words.say import counted, say
from rag.text.language import Language


@pytest.mark.parametrize(("language", "documents"), [("en", "20,000 documents"), ("ja", "20,000 件")])
def test_thousands_are_separated_in_a_count_but_not_in_a_text(language: Language, documents: str) -> None:
    with written_for(Reader(language, "UTC")):
        assert counted("index.documents", 20_000) == documents
        assert "1,200" in say("job.done", done=1200, total=20_000)
        assert "1200" in say("detail.page", page="1200")

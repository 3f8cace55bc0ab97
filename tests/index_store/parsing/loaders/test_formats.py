"""Records of formats: other code uses only the record of a format. Its loader is imported when it is needed."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import httpx2
import pytest

from benchmarks.formats import formats_table
from index_store.base.errors import DocumentError, UnknownKind
from index_store.crawl.answers import kinds
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.formats import ARCHIVES, FORMATS, LOADABLE, format_of
from tests.conftest import ROOT

LOADERS = ROOT / "index_store/parsing/loaders"


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.kind)
def test_a_format_brings_what_loads_it(record, raw: Callable[..., RawFile]) -> None:
    with pytest.raises(DocumentError):
        record.loader()(raw(b"\x7fELF\x02\x01 a program", f"a{record.suffixes[0]}"))


def test_no_two_formats_share_a_kind_suffix_media_type_or_loader() -> None:
    for said in ("kind", "suffixes", "media_types", "loader"):
        values = [getattr(record, said) for record in FORMATS]
        counts = Counter(value for each in values for value in ([each] if said in ("kind", "loader") else each))
        assert counts.most_common(1)[0][1] == 1, said
    assert not ARCHIVES & {suffix for record in FORMATS for suffix in record.suffixes}


def test_a_file_is_known_by_its_suffix_in_any_case() -> None:
    for record in FORMATS:
        for suffix in record.suffixes:
            assert format_of(f"報告.2026{suffix.upper()}") is record


def test_what_is_of_no_format_is_told_what_could_be_added() -> None:
    with pytest.raises(UnknownKind, match=r"\.pdf .*\.zip") as told:
        format_of("film.mov")
    assert all(suffix in str(told.value) for suffix in LOADABLE)


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.kind)
def test_the_crawler_takes_what_a_server_calls_by_one_of_its_types(record) -> None:
    for media_type, suffix in record.media_types.items():
        assert suffix in record.suffixes
        headers = httpx2.Headers({"content-type": f"{media_type}; charset=utf-8"})
        assert kinds.suffix_of(headers, "https://site.example/download") == suffix
    for suffix in record.suffixes:
        assert not kinds.is_hopeless(f"https://site.example/file{suffix}")


def test_the_docs_say_of_each_format_what_it_is_called_and_how_it_is_shown() -> None:
    assert formats_table() in (ROOT / "docs/formats.md").read_text(encoding="utf-8")


def test_every_module_that_loads_a_file_has_its_record() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in LOADERS.rglob("*.py")
        if "\ndef load(file: RawFile) -> LoadedDocument:" in path.read_text(encoding="utf-8")
    }
    assert modules == {record.loader().__module__ for record in FORMATS}


def test_a_record_is_read_without_what_reads_its_files() -> None:
    code = "import sys, index_store.parsing.loaders.formats; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"lxml", "pypdfium2", "index_store.parsing.loaders.text.decode"} & loaded

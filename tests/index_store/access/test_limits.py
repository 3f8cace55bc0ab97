"""Limits: what the members of a group may use, and how many files and megabytes an index may contain."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from index_store.access.access import Access
from index_store.access.limits import GroupLimits
from index_store.access.people.people import People
from index_store.base.errors import IndexHasTooManyFiles, IndexTooLarge, NoGroupNamed
from index_store.base.settings.settings import Settings
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from tests.index_store.access.conftest import claim
from tests.index_store.team import people_of

Write = Callable[..., Path]


def test_the_highest_limit_of_several_groups_counts_and_without_a_group_the_default(
    access: Access, people: People
) -> None:
    access.limits.set("sales", GroupLimits(runs_at_once=2, tokens_a_day=1000, files=10))
    access.limits.set("人事部", GroupLimits(runs_at_once=7, tokens_a_day=0))
    principal = people.signed_in(claim("alice", groups=frozenset({"sales", "人事部", "other"})))
    assert access.limits.of(principal) == GroupLimits(runs_at_once=7, tokens_a_day=0, files=10)
    assert access.limits.of(people.signed_in(claim("bob", groups=frozenset({"other"})))) == GroupLimits()
    assert access.limits.of(people.signed_in(claim("carol"))) == GroupLimits()


def test_they_are_listed_changed_and_taken_away(access: Access) -> None:
    access.limits.set(" sales ", GroupLimits(files=10))
    access.limits.set("it", GroupLimits(tokens_a_day=5))
    access.limits.set("sales", GroupLimits(megabytes=3))
    assert access.limits.all() == {"it": GroupLimits(tokens_a_day=5), "sales": GroupLimits(megabytes=3)}
    access.limits.set("it", GroupLimits())
    assert list(access.limits.all()) == ["sales"]


def test_without_a_group_nothing_is_set_and_that_is_said(access: Access) -> None:
    for nameless in ("", " \u3000"):
        with pytest.raises(NoGroupNamed):
            access.limits.set(nameless, GroupLimits(files=10))
    assert access.limits.all() == {}


def test_less_than_nothing_is_no_limit() -> None:
    with pytest.raises(ValidationError):
        GroupLimits(files=-1)


def results(store: IndexStore, index: str, *files: Path) -> list[tuple[str, str | None]]:
    done = store.ingest(index, [FileSource(file) for file in files]).wait()
    return sorted((Path(each.source).name, each.error and each.error.code) for each in done)


TOO_MANY = IndexHasTooManyFiles(name="", index="", limit=0).code
TOO_LARGE = IndexTooLarge(name="", index="", limit=0).code


def test_a_file_too_many_is_refused_in_a_sentence_and_leaves_no_trace_in_the_list(
    serviced: Settings, write: Write
) -> None:
    files = [write(f"{name}.md") for name in "abc"]
    with IndexStore(serviced.model_copy(update={"files_per_index": 2})) as store:
        assert results(store, "a", *files[:2]) == [("a.md", None), ("b.md", None)]
        assert results(store, "a", files[2]) == [("c.md", TOO_MANY)]
        [refused] = store.ingestions[-1].results
        assert refused.error.sentence("en").startswith("c.md was not added: the index “a” already has the maximum of 2")
        assert "「a」" in refused.error.sentence("ja")
        assert [each.title for each in store.documents("a")] == ["a.md", "b.md"]
        files[0].write_text("# a.md\n\nA new version takes the place of the old.")
        assert results(store, "a", files[0]) == [("a.md", None)]
        assert results(store, "b", files[2]) == [("c.md", None)]
        store.remove("a", str(files[1]))
        assert results(store, "a", files[2]) == [("c.md", None)]


def test_of_jobs_side_by_side_no_more_come_in_than_there_is_space_for(serviced: Settings, write: Write) -> None:
    with IndexStore(serviced.model_copy(update={"files_per_index": 5})) as store:
        store.create_index("a")
        jobs = [store.ingest("a", [FileSource(write(f"{job}-{n}.md")) for n in range(4)]) for job in range(4)]
        done = [result for job in jobs for result in job.wait()]
        assert sum(each.status is IngestStatus.READY for each in done) == 5
        assert {each.error.code for each in done if each.error} == {TOO_MANY}
        assert len(store.documents("a")) == 5


def test_megabytes_are_counted_with_what_is_there_and_without_what_is_replaced(
    serviced: Settings, write: Write, tmp_path: Path
) -> None:
    first, second, small = tmp_path / "a.html", tmp_path / "b.html", write("c.md")

    def fill(file: Path, megabytes: float) -> None:
        """Writes a file of this size with very few words, because words take time to embed."""
        file.write_text(f"<h1>{file.name}</h1><p>A word.</p><!--{'-x' * int(megabytes * 500_000)}-->")

    fill(first, 0.6)
    fill(second, 0.6)
    with IndexStore(serviced.model_copy(update={"megabytes_per_index": 1})) as store:
        assert results(store, "a", first) == [("a.html", None)]
        assert results(store, "a", second, small) == [("b.html", TOO_LARGE), ("c.md", None)]
        fill(first, 0.7)
        assert results(store, "a", first) == [("a.html", None)]
        fill(first, 1.2)
        assert results(store, "a", first) == [("a.html", TOO_LARGE)]
        [document] = [each for each in store.documents("a") if each.source == str(first)]
        assert document.status == "ready"
        assert document.error.code == TOO_LARGE


def test_the_members_of_an_archive_are_counted_and_the_archive_is_not(
    serviced: Settings, write: Write, tmp_path: Path
) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in "abc":
            packed.write(write(f"{name}.md"), f"{name}.md")
    with IndexStore(serviced.model_copy(update={"files_per_index": 3})) as store:
        assert results(store, "a", archive) == [("a.md", None), ("b.md", None), ("c.md", None)]
    with IndexStore(serviced.model_copy(update={"files_per_index": 2})) as store:
        assert [code for _, code in results(store, "b", archive)].count(TOO_MANY) == 1


@pytest.mark.parametrize(
    ("limit", "refusal"),
    [
        ({"files_per_index": 3}, TOO_MANY),
        pytest.param({"megabytes_per_index": 1}, TOO_LARGE, marks=pytest.mark.soak),
    ],
)
def test_a_newer_archive_takes_the_place_of_the_one_that_fills_the_index(
    serviced: Settings, tmp_path: Path, limit: dict[str, int], refusal: str
) -> None:
    archive = tmp_path / "all.zip"

    def pack(names: str, words: str) -> None:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name in names:
                packed.writestr(f"{name}.html", f"<h1>{name}</h1><p>A word, {words}.</p><!--{'-x' * 150_000}-->")

    with IndexStore(serviced.model_copy(update=limit)) as store:
        for words in ("at first", "later"):
            pack("abc", words)
            assert results(store, "a", archive) == [("a.html", None), ("b.html", None), ("c.html", None)]
        pack("abcd", "too much")
        assert results(store, "a", archive)[3:] == [("d.html", refusal)]


def test_what_an_index_may_hold_is_its_owners_limit_whoever_adds(serviced: Settings, write: Write) -> None:
    with IndexStore(serviced.model_copy(update={"files_per_index": 1})) as store:
        alice = store.access.people.signed_in(claim("alice", groups=frozenset({"archive"})))
        store.create_index("alices")
        store.create_index("nobodys")
        store.access.grants.set_owner("alices", alice.id)
        store.access.limits.set("archive", GroupLimits(files=0))
        files = [write(f"{name}.md") for name in "abc"]
        assert [code for _, code in results(store, "alices", *files)] == [None, None, None]
        assert [code for _, code in results(store, "nobodys", *files)].count(TOO_MANY) == 2


def test_what_was_there_before_a_limit_stays_and_is_indexed_anew(serviced: Settings, write: Write) -> None:
    files = [write(f"{name}.md") for name in "abc"]
    with IndexStore(serviced) as store:
        results(store, "a", *files)
    with IndexStore(serviced.model_copy(update={"files_per_index": 1})) as store:
        assert [each.error for each in store.reindex("a").wait()] == [None, None, None]


def test_admins_see_what_each_index_takes_and_whose_it_is(serviced: Settings, write: Write) -> None:
    with people_of(serviced) as people:
        people("alice").create_index("alices")
        people.store.create_index("nobodys")
        files = [write(f"{name}.md", words=name) for name in ("one", "two")]
        results(people.store, "alices", *files, write("empty.xyz"))
        size = sum(file.stat().st_size for file in files)
        assert people("root").index_sizes() == [("alices", people.id("alice"), 2, size), ("nobodys", None, 0, 0)]

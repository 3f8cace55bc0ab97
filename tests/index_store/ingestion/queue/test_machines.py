"""Apps and workers on machines that share no folder: with ORIGINALS_URL, they do not need one."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.ingestion.sources import keep_upload
from index_store.store.index_store import IndexStore, working
from tests.helpers.waiting import eventually
from tests.index_store.soundness import assert_sound, content
from tests.servers.s3 import S3Server

Write = Callable[..., Path]


@pytest.fixture
def machine(queued: Settings, s3: S3Server, tmp_path: Path) -> Callable[[str], Settings]:
    """Settings of a process on the machine with this name."""
    url = SecretStr(f"s3://{s3.new_bucket()}?endpoint_url={s3.url}&key=a&secret=b")
    return lambda name: queued.model_copy(update={"data_dir": tmp_path / name, "originals_url": url})


def test_what_is_uploaded_on_one_is_read_on_another_and_opened_and_removed_on_a_third(
    machine: Callable[[str], Settings],
) -> None:
    one, other, third = machine("one"), machine("other"), machine("third")
    with IndexStore(one) as store, IndexStore(other) as seen:
        job = store.ingest("a", [keep_upload(one.data_dir, "up.md", io.BytesIO(b"# Up\n\nloaded"))])
        with working(third):
            assert [each.status.value for each in job.wait()] == ["ready"]
            [document] = seen.documents()
            assert content(seen.original(document.id)) == b"# Up\n\nloaded"
            assert [each.status.value for each in seen.reindex("a").wait()] == ["ready"]
            assert seen.search("a", "loaded", k=1)[0].document_id == document.id
        seen.remove_documents([document.id])
        assert eventually(lambda: not store.documents())
        with pytest.raises(errors.DocumentGone):
            store.original(document.id)
        assert_sound(store, one.data_dir)
    for settings in (one, other, third):
        assert not list((settings.data_dir / "originals").glob("*"))


def test_what_one_machine_has_noted_is_gone_on_with_by_another_when_it_is_lost(
    machine: Callable[[str], Settings],
) -> None:
    lost, other = machine("lost"), machine("other")
    with IndexStore(lost) as store:
        store.ingest("a", [keep_upload(lost.data_dir, "up.md", io.BytesIO(b"# Up\n\nloaded"))])
        assert eventually(lambda: [each.status.value for each in store.documents()] == ["pending"])
    lost.data_dir.rename(lost.data_dir.with_name("gone"))
    with IndexStore(other) as store, working(other):
        for job in store.resume():
            job.wait()
        assert [each.status.value for each in store.documents()] == ["ready"]
        assert_sound(store, other.data_dir)

"""Sign-ins: which browser is signed in as which person, and until when."""

from datetime import timedelta

import pytest

from index_store.access.access import Access, open_access
from index_store.base.settings.settings import Settings
from tests.index_store.access.conftest import claim

DAY = timedelta(days=1)


@pytest.fixture
def anna(access: Access) -> str:
    return access.people.signed_in(claim("anna")).id


def test_a_browser_is_whose_it_was_signed_in_as_until_it_is_signed_out(access: Access, anna: str):
    access.sign_ins.begin(anna, b"laptop", DAY)
    access.sign_ins.begin(anna, b"phone", DAY)
    assert access.sign_ins.person_id(b"laptop") == anna
    access.sign_ins.end(b"laptop")
    access.sign_ins.end(b"laptop")
    assert access.sign_ins.person_id(b"laptop") is None
    assert access.sign_ins.person_id(b"phone") == anna


def test_what_never_began_is_nobodys(access: Access, anna: str):
    access.sign_ins.begin(anna, b"laptop", DAY)
    for shown in (b"", b"laptop ", b"\xff"):
        assert access.sign_ins.person_id(shown) is None


def test_a_sign_in_ends_by_itself(access: Access, anna: str):
    access.sign_ins.begin(anna, b"long ago", -DAY)
    assert access.sign_ins.person_id(b"long ago") is None


def test_a_cookie_from_before_a_person_was_disabled_is_worth_nothing_when_they_are_enabled_again(
    access: Access, anna: str
):
    berta = access.people.signed_in(claim("berta")).id
    access.sign_ins.begin(anna, b"stolen laptop", DAY)
    access.sign_ins.begin(berta, b"phone", DAY)
    access.people.disable(anna)
    access.people.enable(anna)
    assert access.sign_ins.person_id(b"stolen laptop") is None
    assert access.sign_ins.person_id(b"phone") == berta
    access.sign_ins.begin(anna, b"new laptop", DAY)
    assert access.sign_ins.person_id(b"new laptop") == anna


def test_a_sign_in_outlives_the_process(settings: Settings):
    with open_access(settings) as access:
        anna = access.people.signed_in(claim("anna")).id
        access.sign_ins.begin(anna, b"laptop", DAY)
    with open_access(settings) as access:
        assert access.sign_ins.person_id(b"laptop") == anna


@pytest.mark.sqlite_alone
def test_what_a_browser_shows_is_not_kept(access: Access, anna: str, settings: Settings):
    access.sign_ins.begin(anna, b"of-this-browser-alone", DAY)
    files = [file.read_bytes() for file in settings.data_dir.rglob("*") if file.is_file()]
    assert any(b"sign_ins" in content for content in files)
    assert not any(b"of-this-browser-alone" in content for content in files)


def test_someone_is_found_by_what_they_signed_in_as_and_by_nothing_else(access: Access, anna: str):
    access.people.add("berta@example.com")
    assert access.people.id_of("https://id.example.com", "anna") == anna
    assert access.people.id_of("https://other.example.com", "anna") is None
    assert access.people.id_of("", "berta@example.com") is None

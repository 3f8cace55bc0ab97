from collections.abc import Iterator

import pytest

from index_store.access.access import Access, open_access
from index_store.access.people.people import People
from index_store.access.people.recognition import SignInClaims
from index_store.base.settings.settings import Settings


@pytest.fixture
def access(settings: Settings) -> Iterator[Access]:
    with open_access(settings) as access:
        yield access


@pytest.fixture
def people(access: Access) -> People:
    return access.people


def claim(subject: str, **more: object) -> SignInClaims:
    """The claim of `subject`. By default, it has a verified mail address with that name."""
    usual = {"name": subject.title(), "mail": f"{subject}@example.com", "mail_is_verified": True}
    return SignInClaims("https://id.example.com", subject, **{**usual, **more})

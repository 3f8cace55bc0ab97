"""Names and addresses, as the pages show them."""

from collections.abc import Callable

import pytest

from pages.words.names import plain, readable


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://example.com/%E8%A6%8F%E7%A8%8B/%E6%97%A5%E5%BD%93.html", "https://example.com/規程/日当.html"),
        ("https://example.com/?q=%e6%97%a5%E5%BD%93&x=a%26b%20c", "https://example.com/?q=日当&x=a%26b%20c"),
        ("There is no page at https://example.com/%E6%97%A5.", "There is no page at https://example.com/日."),
        ("https://www.xn--wgv71a119e.jp:8000/", "https://www.日本語.jp:8000/"),
        ("There is no site named xn--wgv71a119e.jp. Check it.", "There is no site named 日本語.jp. Check it."),
    ],
)
def test_an_address_is_shown_with_its_own_letters_as_in_a_browser(address: str, shown: str) -> None:
    assert readable(address) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/%93%FA%93%96",  # Shift_JIS
        "https://example.com/%E2%80%8Ba",  # a sign without width
        "https://example.com/%E2%80%AEcod.exe",  # turns the letters round
        "100%E3%81%82.txt",  # a file's own name
        "https://xn--80ak6aa92e.com/",  # Cyrillic letters that look like apple
        "https://xn--127-/",
    ],
)
def test_what_is_no_text_or_would_be_invisible_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize("show", [plain, readable])
def test_nothing_in_a_name_turns_its_direction(show: Callable[[str], str]) -> None:
    assert show("travel\u202egpj.md").replace("\\", "") == "travelgpj.md"

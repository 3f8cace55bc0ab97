"""Which web search the settings select."""

import pytest

from index_store.base.errors import InvalidSetting
from rag.settings import Settings
from rag.web import web_search
from tests.rag.conftest import TAVILY_KEY


@pytest.mark.parametrize(
    ("choice", "key", "provider"),
    [
        ("tavily", TAVILY_KEY, "tavily"),
        ("tavily", None, None),
        ("tavily", "  ", None),
        ("duckduckgo", TAVILY_KEY, "duckduckgo"),
        ("off", TAVILY_KEY, None),
    ],
)
def test_the_settings_choose_the_service_and_tavily_is_never_asked_without_a_key(choice, key, provider):
    chosen = web_search(Settings(web_search=choice, tavily_api_key=key))
    assert (chosen and chosen.provider) == provider


def test_without_any_setting_no_question_leaves_the_house():
    assert web_search(Settings()) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"web_search": "google"},
        {"tavily_base_url": "ftp://x"},
        {"corrective_rule": "all"},
        {"crag_upper": 0.2},
        {"crag_lower": -1},
        {"crag_lower": 0.8},
    ],
    ids=str,
)
def test_a_setting_that_is_wrong_is_named(wrong):
    with pytest.raises(
        InvalidSetting, match="CRAG_UPPER" if wrong == {"crag_lower": 0.8} else next(iter(wrong)).upper()
    ):
        Settings(**wrong)


def test_the_key_shows_in_no_print_of_the_settings():
    assert (
        TAVILY_KEY not in f"{Settings(tavily_api_key=TAVILY_KEY)!r} {Settings(tavily_api_key=TAVILY_KEY).model_dump()}"
    )

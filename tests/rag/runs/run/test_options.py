"""The style of an answer: chosen for one run, or taken from the settings."""

import pytest

from index_store.base.errors import InvalidSetting
from rag.errors import BadTemperature, UnknownStyle
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.runs.fork.edits import LeaveOut
from rag.runs.run.options import LENGTHS, TONES, style
from rag.settings import Settings
from rag.trace.events import RunStarted, Style
from tests.rag.documents import INDEX

QUESTIONS = {"ja": "出張の日当はいくらですか?", "en": "What is the VPN client called?"}
SHORT_AND_PLAIN = Style(length="short", tone="plain")


@pytest.mark.parametrize("language", ["ja", "en"])
def test_what_is_picked_stands_in_the_prompt_and_in_the_history(engine, chat, language):
    run = engine.ask(QUESTIONS[language], index=INDEX, pipeline_name="naive", style=SHORT_AND_PLAIN)
    run.result()
    words = {"ja": JA, "en": EN}[language]
    assert words.short in chat.prompts[-1]
    assert words.plain in chat.prompts[-1]
    assert words.normal not in chat.prompts[-1]
    assert engine.history.events(run.id)[0].style == SHORT_AND_PLAIN


def test_unless_something_is_picked_it_is_as_the_settings_have_it(open_engine, chat):
    engine = open_engine(chat, answer_length="long", answer_tone="polite")
    run = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="naive")
    run.result()
    assert run.events[0].style == Style(length="long", tone="polite")
    assert JA.long in chat.prompts[-1]
    assert JA.polite in chat.prompts[-1]


@pytest.mark.parametrize(
    ("name", "value"), [("answer_length", "endless"), ("answer_tone", "rude"), ("answer_temperature", 2.5)]
)
def test_a_setting_that_cannot_be_is_told_in_a_sentence(data_dir, name, value):
    with pytest.raises(InvalidSetting, match=name.upper()):
        Settings(data_dir=data_dir, **{name: value})


@pytest.mark.parametrize(("length", "tone", "named"), [("endless", "plain", LENGTHS), ("short", "rude", TONES)])
def test_a_style_that_cannot_be_names_those_that_can(length, tone, named):
    with pytest.raises(UnknownStyle) as refused:
        style(length, tone, 0)
    for language in ("en", "ja"):
        assert all(each in refused.value.sentence(language) for each in named)


def test_a_temperature_goes_with_the_run_its_fork_and_its_calls(open_engine, chat):
    engine = open_engine(chat, answer_temperature=0.3)
    usual = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="naive")
    usual.result()
    assert usual.events[0].style.temperature == 0.3
    warm = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="naive", style=Style(temperature=1.5))
    warm.result()
    fork = engine.forks.begin(warm.id, "retrieve", 1, [LeaveOut(passage=2)])
    fork.result()
    for run in (warm, fork):
        assert engine.history.events(run.id)[0].style.temperature == 1.5
        assert [each.temperature for each in engine.history.calls.of_step(run.id, "generate", 1)] == [1.5]


@pytest.mark.parametrize("given", ["hot", "-0.1", "2.1", "nan"])
def test_a_temperature_that_cannot_be_is_told_in_a_sentence(given):
    with pytest.raises(BadTemperature) as refused:
        style("short", "plain", given)
    assert given in refused.value.sentence("en")
    assert given in refused.value.sentence("ja")


def test_a_run_of_before_styles_were_noted_still_loads():
    old = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=1)
    data = old.model_dump()
    del data["style"]
    assert RunStarted.model_validate(data).style == Style()

"""How a style changes the prompts of both kinds of chat model."""

import pytest

from rag.models.calls.usage import Usage
from rag.models.chat_model import Answer
from rag.runs.run.options import LENGTHS, TONES
from rag.trace.events import Style
from tests.rag.models.kinds import KINDS, asked


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_style_is_worded_differently(kind, language):
    def prompt(style: Style) -> str:
        return str(asked(kind, lambda model, usage: model.answer("?", [], usage, language=language, style=style)))

    prompts = {prompt(Style(length=length, tone=tone)) for length in LENGTHS for tone in TONES}
    assert len(prompts) == len(LENGTHS) * len(TONES)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_answers_alone_take_the_temperature_and_grades_stay_at_0(kind):
    usages = []

    def noting(way):
        def ask(model, _):
            usages.append(Usage(record=[]))
            return way(model, usages[-1])

        return ask

    warm = {"language": "en", "temperature": 0.7}
    asked(
        kind,
        noting(lambda model, usage: model.answer("?", [], usage, language="en", style=Style(temperature=0.7))),
        noting(lambda model, usage: model.answer_from_memory("?", usage, **warm)),
        noting(lambda model, usage: model.small_talk("Hello", usage, **warm)),
        noting(lambda model, usage: model.check_usefulness("?", Answer("Yes."), usage)),
        noting(lambda model, usage: model.rewrite_question("?", "?", usage, language="en")),
    )
    assert [{call.temperature for call in usage.record} for usage in usages] == [{0.7}, {0.7}, {0.7}, {0}, {0}]

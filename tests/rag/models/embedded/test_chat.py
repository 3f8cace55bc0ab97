"""The calls of the embedded model and how its replies are read. A loopback server takes its place."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import pytest

from benchmarks.grading import passage
from rag.models import chat_model
from rag.models.calls.prompt import Prompt
from rag.models.calls.usage import Usage, tokens_of
from rag.models.embedded.chat import EmbeddedChat
from rag.models.embedded.log_odds import YesNoQuestion
from rag.models.service.source import ServiceSource
from rag.settings import Settings
from rag.trace.events import Style
from rag.trace.grades import Factor, Grade
from tests.servers import Answer, OpenAIServer

T = TypeVar("T")

PROMPT: Prompt = [("user", "Is snow white?")]


def asked_as_embedded(data_dir, answers: Iterable[Answer], ask: Callable[[EmbeddedChat], Awaitable[T]]):
    """The result of `ask`, and the requests."""

    async def asked():
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url))
        try:
            return await ask(EmbeddedChat(source.open().client))
        finally:
            await source.close()

    with OpenAIServer() as server:
        server.enqueue(*answers)
        return asyncio.run(asked()), server.chats


def test_search_words_are_written_within_a_bound(data_dir):
    found, [asked] = asked_as_embedded(
        data_dir,
        [Answer("Search words: snow, white")],
        lambda model: model.extract_keywords("Is snow white?", Usage(), language="en"),
    )
    assert found.kept == ("snow", "white")
    assert asked.schema is None
    assert asked.token_limit <= 100


def test_one_invented_search_word_rejects_all(data_dir):
    """If it changes one word, none is used: it copies badly, and often changes the most important word."""
    for said, why_not in (("出張, 日当", None), ("出張, 价格", "invented")):
        found, _ = asked_as_embedded(
            data_dir,
            [Answer(said)],
            lambda model: model.extract_keywords("出張の日当は?", Usage(), language="ja"),
        )
        assert found.why_not == why_not


@pytest.mark.parametrize(
    ("threshold", "adjustment", "verdict"), [(0.0, 0.0, "yes"), (2.5, 0.0, "no"), (2.5, 1.0, "yes"), (0.0, -3.0, "no")]
)
def test_a_grade_is_read_from_the_log_odds_and_not_from_the_word(data_dir, threshold, adjustment, verdict):
    async def grade(model: EmbeddedChat) -> Grade:
        adjustments = (Factor(en="words", ja="言葉", value=adjustment),)
        message = await model.client.ask(PROMPT, Usage(), max_tokens=1, logprobs=True, top_logprobs=20)
        return YesNoQuestion(PROMPT, threshold, adjustments).grade(tokens_of(message))

    answer = Answer("no", logprobs=({"yes": -0.5, "no": -2.5},))
    grade, _ = asked_as_embedded(data_dir, [answer], grade)
    assert grade.verdict == verdict
    assert grade.explanation.total == pytest.approx(2 + adjustment)
    assert grade.explanation.threshold == threshold
    assert [factor.value for factor in grade.explanation.factors] == [pytest.approx(2), adjustment]
    assert (grade.score >= 0.5) is (verdict == "yes")


def test_a_grader_is_asked_for_one_token_and_its_log_probabilities(data_dir):
    grade, [asked] = asked_as_embedded(
        data_dir, [Answer("")], lambda model: model.grade_retrieval_need("Is snow white?", Usage())
    )
    assert (asked.body["logprobs"], asked.token_limit) == (True, 1)
    assert grade.verdict == "unknown"


def test_it_is_not_asked_to_correct_itself():
    """A wrong answer is more likely to pass its check at the next try than to become right."""
    assert not EmbeddedChat.regenerates


def test_it_gives_no_speculative_answers():
    """Its calls wait for each other, so a speculative answer saves no time."""
    assert not EmbeddedChat.speculates


YES, NO = (Answer("yes", logprobs=({"yes": yes, "no": -1.0},)) for yes in (6.0, -8.0))
PASSAGE = passage(1, "A password has at least 14 characters.")


def grounded(data_dir, said: str, *answers: Answer):
    return asked_as_embedded(
        data_dir,
        answers,
        lambda model: model.check_grounding("How long is a password?", chat_model.Answer(said), [PASSAGE], Usage()),
    )


def test_the_claims_of_an_answer_are_graded_one_by_one(data_dir):
    grounding, chats = grounded(data_dir, "It has 14 characters[1]. It has 3 colours[1].", YES, NO)
    assert (grounding.level, grounding.unsupported) == ("partly", ("It has 3 colours.",))
    assert ["colours" in chat.text for chat in chats] == [False, True]


def test_an_answer_of_many_claims_is_graded_as_a_whole(data_dir):
    grounding, [asked] = grounded(data_dir, " ".join(["It has 14 characters[1]."] * 9), YES)
    assert grounding.level == "fully"
    assert asked.text.count("It has 14 characters.") == 9


def test_graders_do_not_read_the_markers_of_an_answer(data_dir):
    """A marker would take more than half of a right answer's log-odds, and count as a number that passages lack."""
    grounding, [asked] = grounded(data_dir, "It has 14 characters[2].", YES)
    assert [factor.en for factor in grounding.explanation.factors] == ["yes or no"]
    assert "It has 14 characters." in asked.text
    _, [asked] = asked_as_embedded(
        data_dir,
        [YES],
        lambda model: model.check_usefulness("How long?", chat_model.Answer("It has 14 characters[2]."), Usage()),
    )
    assert "It has 14 characters." in asked.text


def test_an_answer_carries_how_sure_the_model_was_of_its_words(data_dir):
    async def answer(model: EmbeddedChat) -> Answer:
        pieces = [piece async for piece in model.answer("Colour?", [PASSAGE], Usage(), language="en", style=Style())]
        assert "".join(pieces[:-1]) == pieces[-1].text == "It is white"
        return pieces[-1]

    scripted = Answer("It is white", tokens=2, logprobs=({"It is ": -0.1}, {"white": -0.5}))
    whole, _ = asked_as_embedded(data_dir, [scripted], answer)
    assert whole.confidence == pytest.approx(-0.3)


def test_the_first_word_of_an_answer_is_whole_while_it_streams_and_at_its_end(data_dir):
    async def answer(model: EmbeddedChat) -> Answer:
        question = "在宅勤務の手当は?"
        pieces = [piece async for piece in model.answer(question, [PASSAGE], Usage(), language="ja", style=Style())]
        assert "".join(pieces[:-1]) == pieces[-1].text
        return pieces[-1]

    whole, _ = asked_as_embedded(data_dir, [Answer("宅勤務の手当は3,000円です")], answer)
    assert whole.text == "在宅勤務の手当は3,000円です"


@pytest.mark.parametrize("echo", ["在宅勤務の手当は?", "在宅勤務の手当は", "「在宅勤務の手当は？」\n"])
def test_an_answer_that_only_repeats_the_question_is_not_shown_and_is_no_answer(data_dir, echo):
    async def answer(model: EmbeddedChat) -> Answer:
        question = "在宅勤務の手当は?"
        pieces = [piece async for piece in model.answer(question, [PASSAGE], Usage(), language="ja", style=Style())]
        assert "".join(pieces[:-1]) == pieces[-1].text
        return pieces[-1]

    whole, _ = asked_as_embedded(data_dir, [Answer(echo)], answer)
    assert (whole.text, whole.is_no_answer) == ("", True)
    whole, _ = asked_as_embedded(data_dir, [Answer(f"{echo}: 3,000円です")], answer)
    assert (whole.text, whole.is_no_answer) == (f"{echo}: 3,000円です", False)


def test_a_greeting_may_be_answered_with_the_same_greeting(data_dir):
    async def talk(model: EmbeddedChat) -> Answer:
        return [piece async for piece in model.small_talk("こんにちは", Usage(), language="ja")][-1]

    whole, _ = asked_as_embedded(data_dir, [Answer("こんにちは。")], talk)
    assert (whole.text, whole.is_no_answer) == ("こんにちは。", False)


def test_the_first_word_of_a_rewritten_question_is_whole(data_dir):
    question = "在宅勤務で社用車は使えないのですか"
    rewritten, _ = asked_as_embedded(
        data_dir,
        [Answer("宅勤務で社用車は使えないのですか？")],
        lambda model: model.rewrite_question(question, question, Usage(), language="ja"),
    )
    assert rewritten == "在宅勤務で社用車は使えないのですか？"


def test_a_call_keeps_the_probabilities_that_its_grade_was_read_from(data_dir):
    usage = Usage(record=[])
    asked_as_embedded(
        data_dir,
        [Answer("no", logprobs=({"no": -0.5, "yes": -2.5},))],
        lambda model: model.grade_relevance("日当は?", passage(1, "日当は2,500円です。"), usage),
    )
    [call] = usage.record
    assert (call.task, call.reply.text, call.max_tokens) == ("relevance", "no", 1)
    [token] = call.tokens
    assert (token.token, token.logprob, token.top) == ("no", -0.5, (("no", -0.5), ("yes", -2.5)))


def test_the_call_of_an_answer_keeps_how_sure_it_was_of_each_token(data_dir):
    usage = Usage(record=[])

    async def answer(model: EmbeddedChat) -> None:
        found = [passage(1, "日当は2,500円です。")]
        writing = model.answer("日当は?", found, usage, language="ja", style=Style())
        assert [piece async for piece in writing]

    asked_as_embedded(data_dir, [Answer("日当は2,500円。", logprobs=({"日当": -0.1},) * 3)], answer)
    [call] = usage.record
    assert call.reply.text == "日当は2,500円。"
    assert [each.logprob for each in call.tokens] == [-0.1] * 3
    assert all(each.top == () for each in call.tokens)


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("What is the name of the part?", "What is the name of the part? ZT-4083"),
        ("What does zt-4083 name?", "What does zt-4083 name?"),
        ("What is the name?\nIt is ZT-4083.", "What is the name? ZT-4083\nIt is ZT-4083."),
    ],
    ids=["lost", "kept", "only in a second line, which is not used"],
)
@pytest.mark.parametrize("for_web", [False, True], ids=["documents", "web"])
def test_a_rewrite_keeps_the_codes_of_the_question(data_dir, written, query, for_web):
    question = "What is part ZT-4083?"

    def ask(model: EmbeddedChat):
        if for_web:
            return model.rewrite_for_web(question, Usage(), language="en")
        return model.rewrite_question(question, question, Usage(), language="en")

    assert asked_as_embedded(data_dir, [Answer(written)], ask)[0] == query

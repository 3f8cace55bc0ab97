"""Playback of a run: events at their times, answers typed again, and shorter waits in a faster playback."""

from itertools import product

import pytest

from rag.models.service.ja import JA
from rag.runs.run.summary import answer_so_far
from rag.trace.derived.playback import LONGEST_WAIT, advanced, at, moments
from rag.trace.details import GenerationDetail
from rag.trace.events import Decision, RunFinished, RunStarted, StepFinished, StepStarted, Token, Totals
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX
from tests.rag.scripted import Gate, Held, ScriptedChat
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import NO, approve, grounding

STARTED = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=1.0)


def step(name: str, start: float, seconds: float, **values) -> tuple[StepStarted, StepFinished]:
    finished = StepFinished(
        step=name, attempt=1, start=start, milliseconds=seconds * 1000, model_calls=1, tokens_in=1, tokens_out=1,
        **values,
    )  # fmt: skip
    return StepStarted(step=name, attempt=1, start=start), finished


def run(*steps, seconds: float, answer: str = "") -> list:
    ended = RunFinished(
        status="finished", answer=answer, outcome="answered", citations=(), totals=Totals(seconds=seconds)
    )
    return [STARTED, *(event for each in steps for event in each), ended]


def test_events_come_at_their_own_times():
    retrieve, generate = step("retrieve", 0.0, 1.0), step("generate", 1.0, 10.0)
    decision = Decision(from_step="retrieve", to="generate", why="correct")
    events = run((*retrieve, decision), generate, seconds=11)
    played = moments(events)
    assert at(played, 0) == [STARTED, retrieve[0]]
    assert at(played, 0.9) == [STARTED, retrieve[0]]
    assert at(played, 1.0) == [STARTED, *retrieve, decision, generate[0]]
    assert at(played, 10.9)[-1] == generate[0]
    assert at(played, 11) == events


def test_an_answer_is_typed_over_the_later_part_of_the_step_that_wrote_it():
    text = "The director approves the green car of every train."
    detail = GenerationDetail(passages=(1,), text=text, cited=())
    played = moments(run(step("generate", 0.0, 10.0, detail=detail), seconds=10, answer=text))
    typed = [answer_so_far(at(played, seconds))[0] for seconds in (1, 3.9, 6, 8, 9.99)]
    assert typed[:2] == ["", ""]
    assert "" < typed[2] < typed[3] < typed[4] == text
    assert text.startswith(typed[3])


def prepare(chat: ScriptedChat, name: str) -> None:
    approve(chat)
    chat.default = "日当は1日2,500円です[1]。"
    if name == "rejected":
        chat.answer_when(JA.grounding, answer=grounding("partly"))
    if name == "declined":
        chat.answer_when(JA.relevance, answer=NO)


NOW = (("answered", "naive"), ("answered", "self_rag_candidates"), ("rejected", "self_rag"), ("declined", "corrective"))


@pytest.mark.parametrize(
    ("name", "pipeline"),
    [
        pytest.param(*each, marks=() if each in NOW else pytest.mark.soak)
        for each in product(
            ("answered", "rejected", "declined"), ("naive", "hybrid", "self_rag", "corrective", "self_rag_candidates")
        )
    ],
)
def test_at_its_end_a_playback_has_typed_the_answer_that_the_run_gave(engine, chat, pipeline, name):
    prepare(chat, name)
    live = engine.ask("日当はいくらですか?", index=INDEX, pipeline_name=pipeline)
    result = live.result()
    stored = engine.history.events(live.id)
    assert not any(isinstance(event, Token) for event in stored)
    played = moments(stored)
    assert [event for event in at(played, result.totals.seconds) if not isinstance(event, Token)] == stored
    assert answer_so_far(at(played, result.totals.seconds))[0] == answer_so_far(live.events)[0]


@pytest.mark.parametrize("pipeline", some_of(("naive", "self_rag")))
def test_the_half_answer_of_a_run_that_was_stopped_is_typed(engine, chat, pipeline):
    prepare(chat, "answered")
    chat.default = Held(Gate(), "日当は1日2,500円です[1]。", shown="日当は1日")
    live = engine.ask("日当はいくらですか?", index=INDEX, pipeline_name=pipeline)
    assert eventually(lambda: answer_so_far(live.events)[0])
    live.stop()
    result = live.result()
    assert (result.status, result.answer) == ("stopped", "日当は1日")
    played = moments(engine.history.events(live.id))
    assert answer_so_far(at(played, result.totals.seconds))[0] == result.answer


def test_a_speculative_answer_is_typed_while_its_passages_are_graded(open_engine, chat):
    prepare(chat, "answered")
    engine = open_engine(chat, draft_ahead=True)
    live = engine.ask("日当はいくらですか?", index=INDEX, pipeline_name="self_rag")
    live.result()
    assert answer_so_far([each.event for each in moments(engine.history.events(live.id))]) == answer_so_far(live.events)


def test_at_its_own_pace_a_playback_takes_as_long_as_the_run():
    played = moments(run(step("retrieve", 0.0, 1.0), step("generate", 1.0, 30.0), seconds=31))
    assert advanced(played, 0, 12.5, 1) == 12.5
    assert advanced(played, 12.5, 18.5, 1) == 31


def test_faster_no_wait_is_longer_than_a_moment():
    played = moments(run(step("retrieve", 0.0, 1.0), step("start_model", 1.0, 300.0), seconds=301))
    assert advanced(played, 0, 0.5, 2) == 1.0
    assert advanced(played, 1.0, LONGEST_WAIT / 2, 2) == 151
    assert advanced(played, 1.0, LONGEST_WAIT, 2) == 301
    assert advanced(played, 301, 5, 2) == 301

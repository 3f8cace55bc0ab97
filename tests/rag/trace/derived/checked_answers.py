"""Events of a run whose answers are checked."""

from rag.trace.details import Attempt, AttemptsDetail, DeclineDetail, GenerationDetail, RetrievalDetail
from rag.trace.events import Decision, Event, Outcome, RunFinished, RunStarted, StepFinished, StepStarted, Totals
from rag.trace.grades import Grounding, Usefulness


def started(pipeline: str = "self_rag", conversation: str = "c") -> RunStarted:
    return RunStarted(
        run_id="r", conversation_id=conversation, question="?", index="i", pipeline=pipeline, model="m", at=1
    )


def step(name: str, detail, attempt: int = 1) -> list[Event]:
    return [
        StepStarted(step=name, attempt=attempt, start=0),
        StepFinished(
            step=name, attempt=attempt, start=0, milliseconds=1, model_calls=1, tokens_in=1, tokens_out=1, detail=detail
        ),
    ]


def generate(attempt: int = 1) -> list[Event]:
    return step("generate", GenerationDetail(passages=(1,), text="An answer.", cited=()), attempt)


def decline(text: str) -> list[Event]:
    return step("decline", DeclineDetail(text=text, queries=(), nearest=()))


def attempts(chosen: int) -> list[Event]:
    written = tuple(
        Attempt(number=number, text=text, cited=(), grounding=Grounding.unknown(), usefulness=Usefulness.unknown())
        for number, text in ((1, "Another."), (2, "An answer."))
    )
    return step("keep_best_attempt", AttemptsDetail(attempts=written, chosen=chosen))


SEARCHED = step("retrieve", RetrievalDetail(query="?", mode="vector", unit="chunk", passages=()))
SENT_BACK = Decision(from_step="check_answer", to="generate", why="not_grounded")
FOUND = Decision(from_step="grade_documents", to="generate", why="relevant_found")
GIVEN_UP = Decision(from_step="check_answer", to="decline", why="generation_limit")
PASSED = Decision(from_step="check_answer", to="__end__", why="confirmed")


def finished(outcome: Outcome = "confirmed", unconfirmed: tuple[str, ...] = ()) -> RunFinished:
    return RunFinished(
        status="finished", answer="A.", outcome=outcome, citations=(), totals=Totals(), unconfirmed=unconfirmed
    )

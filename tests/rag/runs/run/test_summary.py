"""The end of a run, summarised from its events."""

from rag.runs.run.summary import summarize_run
from rag.trace.events import RunStarted, Token

STARTED = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=0)


def test_a_run_ends_whatever_numbers_its_model_has_written():
    answer = f"It is so [5]. [{'1' * 5000}]"
    end = summarize_run([STARTED, Token(step="generate", attempt=1, text=answer)], "finished", None, 1.0)
    assert (end.answer, end.citations) == (answer, ())

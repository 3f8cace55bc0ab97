"""Ends of steps and decisions that no run has made."""

from rag.trace.events import Decision, StepFinished


def finished(step: str, attempt: int = 1, **values: object) -> StepFinished:
    counts = {"milliseconds": 1, "model_calls": 0, "tokens_in": 0, "tokens_out": 0}
    return StepFinished(step=step, attempt=attempt, start=0, **counts, **values)


def decision(source: str, to: str, why: str) -> Decision:
    return Decision(**{"from": source}, to=to, why=why)

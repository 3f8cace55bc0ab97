"""How a step writes an answer: piece by piece, shown at once, with a marker [n] at what a passage says."""

from collections.abc import Sequence
from statistics import fmean

from rag.graph.step import NodeStep
from rag.models.chat_model import Restart
from rag.models.grades import Prompt
from rag.text.citations import AttributedText, CitedText, marked
from rag.trace import Passage


async def written(
    step: NodeStep, prompt: Prompt, question: str, passages: Sequence[Passage], *, is_shown: bool = True
) -> CitedText | AttributedText:
    """`is_shown`: as it is being written. Raises ServiceError, ModelError, RunLimit."""

    def show(text: str, *, restart: bool = False) -> None:
        if is_shown and (text or restart):
            step.token(text, restart=restart)

    text = marked(question, passages, model_cites=step.model.cites)
    logprobs: list[float] = []
    async for piece in step.model.stream(prompt, step.meter):
        if isinstance(piece, Restart):
            text, logprobs = marked(question, passages, model_cites=step.model.cites), []
            show("", restart=True)
        else:
            logprobs += piece.logprobs
            show(text.feed(piece.text))
    show(text.end())
    text.confidence = fmean(logprobs) if logprobs else None
    return text

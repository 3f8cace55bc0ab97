"""How a step writes an answer: piece by piece, shown at once, with a marker [n] at what a passage says."""

from collections.abc import Sequence

from rag.chat import Restart
from rag.citations import AttributedText, CitedText, marked
from rag.grades import Prompt
from rag.step import NodeStep
from rag.trace import Passage


async def written(
    step: NodeStep, prompt: Prompt, question: str, passages: Sequence[Passage]
) -> CitedText | AttributedText:
    """Raises ServiceError, ModelError, RunLimit."""
    text = marked(question, passages, model_cites=step.model.cites)
    async for piece in step.model.stream(prompt, step.meter):
        if isinstance(piece, Restart):
            text = marked(question, passages, model_cites=step.model.cites)
            step.token("", restart=True)
        elif shown := text.feed(piece):
            step.token(shown)
    if rest := text.end():
        step.token(rest)
    return text

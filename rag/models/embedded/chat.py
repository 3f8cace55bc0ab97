"""The chat model that comes with the app: 1.5 billion parameters, asked plainly, graded by log-probabilities.

docs/decisions/embedded-chat-model.md has the figures.
"""

import math
from collections.abc import AsyncIterator, Sequence

from rag.models.chat_model import FAULTS, ChatModel, Meter, Piece, Restart, told_tokens
from rag.models.context_window import Room
from rag.models.embedded import prompts as embedded
from rag.models.embedded.engine import CONTEXT
from rag.models.embedded.margin import margin
from rag.models.grades import UNREADABLE, GradingPrompt, Prompt
from rag.models.keywords import read_keywords
from rag.text.citations import claims, unmarked
from rag.text.routing import Routed, asks_of_today
from rag.trace import Grade, MarginPart, Passage, Support, Usefulness

ANSWER_TOKENS = 400
"""a small model that loops would otherwise fill its context"""

KEYWORDS_TOKENS = 60
"""some fifteen words: it may also copy the question"""

MOST_CLAIMS = 8
"""that are checked one by one, at 0.4 s each; an answer of more is checked as a whole"""

_RATINGS = (0.25, 0.5, 0.67, 0.84)
"""scores from which on an answer is rated 2, 3, 4, 5: from 3 on it counts as useful, as a score does from 0.5 on"""


class EmbeddedChat(ChatModel):
    """The model that comes with the app, served on loopback from a child process."""

    prompts = embedded
    cites = False
    copies = False
    corrects = False
    works_ahead = False
    room = Room.of(CONTEXT, ANSWER_TOKENS)

    def stream(self, prompt: Prompt, meter: Meter) -> AsyncIterator[Piece | Restart]:
        return self._stream(self.client.bind(logprobs=True, top_logprobs=1), prompt, meter)

    async def grade(self, prompt: GradingPrompt, meter: Meter) -> Grade:
        one_token = self.client.bind(max_tokens=1, logprobs=True, top_logprobs=20)
        try:
            message = await self._ask(one_token, prompt.messages, meter)
        except FAULTS as error:
            raise self._explained(error) from error
        tokens = told_tokens(message)
        if not tokens:
            return UNREADABLE
        said = margin(tokens[0]["top_logprobs"])
        parts: dict[MarginPart, float] = {"asked": -said if prompt.negated else said, **prompt.priors}
        sure = sum(parts.values())
        return Grade(
            verdict="yes" if sure >= prompt.cut else "no",
            score=1 / (1 + math.exp(prompt.cut - sure)),
            margin=sure,
            cut=prompt.cut,
            parts=parts,
        )

    async def support(
        self,
        question: str,
        answer: str,
        passages: Sequence[Passage],
        meter: Meter,
        *,
        confidence: float | None = None,
    ) -> Support:
        """Sentence by sentence: asked about several at once, it overlooks the one that is wrong."""
        said = [claim.text for claim in claims(answer)]
        if not 1 <= len(said) <= MOST_CLAIMS:
            said = [unmarked(answer)]
        prompts = [self.prompts.grounding(question, each, passages, confidence) for each in said]
        grades = [await self.grade(each, meter) for each in prompts]
        unsupported = tuple(text for text, grade in zip(said, grades, strict=True) if grade.verdict == "no")
        weakest = min(grades, key=lambda grade: -1 if grade.score is None else grade.score)
        if weakest.verdict == "unknown":
            return Support(**weakest.model_dump())
        level = "fully" if not unsupported else "no" if len(unsupported) == len(said) else "partly"
        return Support(**weakest.model_dump(), level=level, unsupported=unsupported)

    async def usefulness(self, question: str, answer: str, meter: Meter) -> Usefulness:
        grade = await self.grade(self.prompts.usefulness(question, unmarked(answer)), meter)
        rating = None if grade.score is None else 1 + sum(grade.score >= least for least in _RATINGS)
        return Usefulness(**grade.model_dump(), rating=rating)

    async def route(self, question: str, meter: Meter) -> Routed:
        """By rules where they know, else by how sure it is of either way; none is sure: the documents."""
        if asks_of_today(question):
            return Routed("web", "todays_world")
        scores = {}
        for way, prompt in (("talk", self.prompts.is_talk(question)), ("web", self.prompts.is_of_today(question))):
            grade = await self.grade(prompt, meter)
            scores[way] = grade.score or 0.0
            if grade.verdict == "yes":
                return Routed(way, "model", scores=scores)
        return Routed("documents", "in_doubt", scores=scores)

    async def keywords(self, prompt: Prompt, meter: Meter) -> tuple[str, ...]:
        try:
            message = await self._ask(self.client.bind(max_tokens=KEYWORDS_TOKENS), prompt, meter)
        except FAULTS as error:
            raise self._explained(error) from error
        return read_keywords(message.text)

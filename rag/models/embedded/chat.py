"""The embedded chat model, 1.5 billion parameters: plain prompts, grades by log-odds.

The figures are in docs/decisions/models/embedded-chat-model.md.
"""

from collections.abc import Sequence
from statistics import fmean

from rag.models.calls.prompt import Prompt
from rag.models.calls.restart import Restart
from rag.models.calls.subjects import of_passage, of_passages, of_text
from rag.models.calls.usage import Usage, tokens_of
from rag.models.chat_model import (
    Answer,
    AnswerStream,
    ChatModel,
    Keywords,
    RejectedAnswer,
    Routing,
)
from rag.models.client.client import ChatClient
from rag.models.client.finish_reason import cut_by
from rag.models.context_window import ContextWindow
from rag.models.embedded import grading, prompts
from rag.models.embedded.engines.child import CONTEXT
from rag.models.embedded.log_odds import TOP, YesNoQuestion
from rag.models.embedded.text.attribution import AttributedText
from rag.models.embedded.text.current_events import asks_about_current_events, is_about_the_company
from rag.models.embedded.text.echo import EchoFilter
from rag.models.embedded.text.first_word import FirstWord, with_first_word_whole
from rag.models.embedded.text.names import unstated_codes
from rag.models.replies import FollowUpsReply, KeywordsReply
from rag.text.citations import claims, without_markers
from rag.text.language import Language
from rag.text.overlap import words_in
from rag.trace.calls import CallSubject
from rag.trace.details import Route, Turn
from rag.trace.events import Style
from rag.trace.grades import Grade, Grounding, Level, Usefulness
from rag.trace.passages import Citation, Passage

ANSWER_TOKENS = 400
"""a small model that loops would otherwise fill its context"""

FOLLOW_UP_TOKENS = 150
"""three short questions"""

LINE_TOKENS = 200
"""for a rewritten question or query: 300 characters of Japanese"""

KEYWORDS_TOKENS = 60
"""about fifteen words: the model may also copy the question"""

MOST_CLAIMS = 8
"""claims checked one by one, at 0.4 s each; an answer with more is checked as a whole"""


class EmbeddedChat(ChatModel):
    """The model that comes with the app, served on loopback by a child process."""

    context_window = ContextWindow.of(CONTEXT, ANSWER_TOKENS)
    regenerates = False
    """a wrong answer is more likely to pass its check at the next try than to become right"""
    speculates = False
    """calls wait for each other"""

    def __init__(self, client: ChatClient) -> None:
        self.client = client
        self.name = client.name

    def answer(
        self,
        question: str,
        passages: Sequence[Passage],
        usage: Usage,
        *,
        language: Language,
        style: Style,
        rejected: RejectedAnswer | None = None,
    ) -> AnswerStream:
        prompt = prompts.answer(question, passages, language, style, rejected)
        about = CallSubject("answer", of_passages(passages))
        return self._stream(prompt, question, passages, usage, about, style.temperature)

    def answer_from_memory(
        self, question: str, usage: Usage, *, language: Language, temperature: float = 0
    ) -> AnswerStream:
        return self._stream(prompts.memory(question, language), question, [], usage, CallSubject("answer"), temperature)

    def small_talk(self, message: str, usage: Usage, *, language: Language, temperature: float = 0) -> AnswerStream:
        return self._stream(prompts.talk(message, language), message, [], usage, CallSubject("answer"), temperature)

    async def _stream(
        self,
        prompt: Prompt,
        question: str,
        passages: Sequence[Passage],
        usage: Usage,
        about: CallSubject,
        temperature: float,
    ) -> AnswerStream:
        first, echo, text = _filters(question, passages)
        logprobs, cut = list[float](), False
        options = {"temperature": temperature, "logprobs": True, "top_logprobs": 1}
        async for piece in self.client.stream(prompt, usage, about=about, **options):
            if isinstance(piece, Restart):
                first, echo, text = _filters(question, passages)
                logprobs, cut = [], False
                yield piece
            else:
                logprobs += [token["logprob"] for token in tokens_of(piece)]
                cut = cut or cut_by(piece) is not None
                yield text.feed(echo.feed(first.feed(piece.text)))
        yield text.feed(echo.feed(first.end()) + echo.end()) + text.end()
        confidence = fmean(logprobs) if logprobs else None
        yield Answer(text.text, tuple(text.cited), is_no_answer=echo.is_echo, confidence=confidence, is_cut=cut)

    async def rewrite_question(
        self,
        question: str,
        query: str,
        usage: Usage,
        *,
        language: Language,
        dropped: str = "",
        not_useful: str = "",
    ) -> str:
        """The prompt does not say why another query is needed, because the grades have no reasons."""
        prompt = prompts.rewrite(question, language)
        written = await self.client.write(prompt, usage, about=CallSubject("query"), max_tokens=LINE_TOKENS)
        return _mended(question, written)

    async def rewrite_for_web(self, question: str, usage: Usage, *, language: Language) -> str:
        prompt = prompts.web_query(question, language)
        written = await self.client.write(prompt, usage, about=CallSubject("query"), max_tokens=LINE_TOKENS)
        return _mended(question, written)

    async def condense_question(self, question: str, turns: Sequence[Turn], usage: Usage, *, language: Language) -> str:
        prompt = prompts.standalone(question, turns, language)
        return await self.client.write(prompt, usage, about=CallSubject("standalone"), max_tokens=LINE_TOKENS)

    async def suggest_follow_ups(
        self, question: str, answer: str, sources: Sequence[Citation], usage: Usage, *, language: Language
    ) -> tuple[str, ...]:
        prompt = prompts.follow_ups(question, without_markers(answer), sources, language)
        message = await self.client.ask(prompt, usage, about=CallSubject("follow_ups"), max_tokens=FOLLOW_UP_TOKENS)
        return FollowUpsReply.read(message.text) or ()

    async def grade_relevance(self, question: str, passage: Passage, usage: Usage) -> Grade:
        return await self._grade(
            grading.relevance(question, passage), usage, CallSubject("relevance", of_passage(passage))
        )

    async def check_grounding(
        self, question: str, answer: Answer, passages: Sequence[Passage], usage: Usage
    ) -> Grounding:
        """Checks each sentence alone: with several at once, the model overlooks the wrong one."""
        sentences = [claim.text for claim in claims(answer.text)]
        if not 1 <= len(sentences) <= MOST_CLAIMS:
            sentences = [without_markers(answer.text)]
        asked = [grading.grounding(question, each, passages, answer.confidence) for each in sentences]
        grades = [
            await self._grade(each, usage, CallSubject("grounding", of_text(text)))
            for each, text in zip(asked, sentences, strict=True)
        ]
        unsupported = tuple(text for text, grade in zip(sentences, grades, strict=True) if grade.verdict == "no")
        weakest = min(grades, key=lambda grade: -1 if grade.score is None else grade.score)
        if weakest.verdict == "unknown":
            return Grounding.unknown()
        level: Level = "fully" if not unsupported else "no" if len(unsupported) == len(sentences) else "partly"
        return Grounding(**dict(weakest), level=level, unsupported=unsupported)

    async def check_usefulness(self, question: str, answer: Answer, usage: Usage) -> Usefulness:
        text = without_markers(answer.text)
        grade = await self._grade(grading.usefulness(question, text), usage, CallSubject("usefulness", of_text(text)))
        return Usefulness(**dict(grade), rating=None if grade.score is None else grading.rating(grade.score))

    async def grade_retrieval_need(self, question: str, usage: Usage) -> Grade:
        return await self._grade(grading.retrieval_need(question), usage, CallSubject("retrieval_need"))

    async def route(self, question: str, usage: Usage) -> Routing:
        """By rules if they apply, else by the model's grades; if none is yes, the documents."""
        if asks_about_current_events(question):
            return Routing("web", "todays_world")
        scores: list[tuple[Route, float]] = []
        ways: list[tuple[Route, YesNoQuestion, CallSubject]] = [
            ("talk", grading.small_talk(question), CallSubject("route_to_talk"))
        ]
        if not is_about_the_company(question):
            ways.append(("web", grading.current_events(question), CallSubject("route_to_web")))
        for way, asked, about in ways:
            grade = await self._grade(asked, usage, about)
            scores.append((way, grade.score or 0.0))
            if grade.verdict == "yes":
                return Routing(way, "model", scores=tuple(scores))
        return Routing("documents", "in_doubt", scores=tuple(scores))

    async def extract_keywords(self, question: str, usage: Usage, *, language: Language) -> Keywords:
        """All or none: a word that the model rewrites is often the one that matters (docs/pipelines/hybrid.md)."""
        prompt = prompts.keywords(question, language)
        message = await self.client.ask(prompt, usage, about=CallSubject("keywords"), max_tokens=KEYWORDS_TOKENS)
        words = KeywordsReply.read(message.text)
        kept = words_in(question, words)
        return Keywords(words, kept, why_not="invented" if len(kept) < len(set(words)) else None)

    async def _grade(self, asked: YesNoQuestion, usage: Usage, about: CallSubject) -> Grade:
        message = await self.client.ask(asked.prompt, usage, about=about, max_tokens=1, logprobs=True, top_logprobs=TOP)
        return asked.grade(tokens_of(message))


def _filters(question: str, passages: Sequence[Passage]) -> tuple[FirstWord, EchoFilter, AttributedText]:
    """What an answer goes through, in this order. Without passages it may be an echo, such as that of a greeting."""
    echo = EchoFilter(question if passages else "")
    return FirstWord(question, passages), echo, AttributedText(question, passages)


def _mended(question: str, written: str) -> str:
    """Puts back what the first line of a query lost: the first character, and codes. "What is part ZT-4083?" became
    "What is the name of the document?", which asks for something else.
    """
    first, *rest = with_first_word_whole(question, written).splitlines()
    return "\n".join([" ".join([first, *unstated_codes(question, first)]), *rest])

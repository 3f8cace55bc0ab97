"""The data of an export, as JSON that can be read again and as Markdown."""

import json
import time
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationError

from rag.errors import UnreadableExport
from rag.runs.export.markdown import in_line, run_as_markdown
from rag.text.language import Language
from rag.text.places import place
from rag.trace import events
from rag.trace.calls import Call
from rag.trace.derived.path import END
from rag.trace.details import AssessmentDetail, GradesDetail, RetrievalDetail, WebSearchDetail
from rag.trace.events import Decision, Event, Origin, RunFinished, RunStarted, StepFinished, started_of
from rag.trace.passages import Frozen

LONGEST_NAME = 50
"""characters of a file's name, without date and suffix: at most 200 bytes; file systems allow 255"""

SIGNS = {"yes": "✓", "no": "✗", "unknown": "?", "stopped": "■", "failed": "✗", None: "✓"}


def _event(value: Any) -> Any:
    """Read like the history's events: events of other versions are upgraded."""
    return events.from_json(json.dumps(value)) if isinstance(value, dict) else value


class StepCalls(Frozen):
    step: str
    attempt: int
    calls: tuple[Call, ...]


class ExportedRun(Frozen):
    feedback: Literal[-1, 1] | None
    """thumb down, thumb up; None: no vote"""
    events: tuple[Annotated[Event, BeforeValidator(_event)], ...]
    """all except the tokens"""
    calls: tuple[StepCalls, ...]
    """of the chat model, if they are kept: messages, settings and replies. Never a key: no call contains one"""

    @property
    def started(self) -> RunStarted | None:
        return started_of(self.events)

    @property
    def finished(self) -> RunFinished | None:
        return next((each for each in reversed(self.events) if isinstance(each, RunFinished)), None)

    def calls_of(self, step: StepFinished) -> tuple[Call, ...]:
        return next((each.calls for each in self.calls if (each.step, each.attempt) == (step.step, step.attempt)), ())


class Export(Frozen):
    format: Literal["glassbox-rag"] = "glassbox-rag"
    version: Literal[1] = 1
    """new fields don't change it; a file with a higher version is not read"""
    exported_at: float
    """seconds since the epoch"""
    title: str
    """the conversation's title, or the run's question"""
    runs: tuple[ExportedRun, ...]
    """the earliest first; of a comparison, from left to right"""

    @classmethod
    def of(cls, title: str, runs: tuple[ExportedRun, ...]) -> "Export":
        return cls(exported_at=time.time(), title=title, runs=runs)

    def as_json(self) -> str:
        return self.model_dump_json(by_alias=True, indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Export":
        """Raises UnreadableExport."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise UnreadableExport() from error


def file_name(title: str, day: date, suffix: str) -> str:
    """A file name from title and day, without characters that a file system forbids (Windows forbids most). `suffix`:
    such as `.md`
    """
    readable = unicodedata.normalize("NFC", title[: 4 * LONGEST_NAME])
    kept = "".join(" " if _is_unfit(each) else each for each in readable)
    return f"{' '.join(kept.split())[:LONGEST_NAME].strip(' .') or 'export'} {day:%Y-%m-%d}{suffix}"


def _is_unfit(character: str) -> bool:
    """Control and formatting characters are unfit too, such as those that change the writing direction."""
    return character in '<>:"/\\|?*' or unicodedata.category(character)[0] == "C"


Say = Callable[[str], str]


def _key(key: str) -> str:
    return key.partition(".")[2]


TellOrigin = Callable[[Origin], Sequence[str]]


def _keys(origin: Origin) -> Sequence[str]:
    return (f"{origin.kind}: {origin.step}", *(each.what for each in origin.changes))


TellTime = Callable[[datetime], str]


def _local_time(moment: datetime) -> str:
    """In the time zone of this machine."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def export_as_markdown(
    export: Export,
    language: Language,
    say: Say = _key,
    tell_origin: TellOrigin = _keys,
    tell_time: TellTime = _local_time,
) -> str:
    """Questions, answers, sources, and a line for each step. `say`: gives the text for keys such as `step.retrieve`;
    `tell_origin`: a sentence about the origin of a fork, and one about each change; `tell_time`: when it was asked.
    """
    parts = [f"# {in_line(export.title)}"]
    for number, run in enumerate(export.runs, start=1):
        prefix = f"{number}-" if len(export.runs) > 1 else ""  # a footnote name must be unique in the file
        parts += [
            run_as_markdown(run.events, language, prefix),
            _trace(run.events, language, say, tell_origin, tell_time),
        ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


_TRACE: dict[Language, str] = {"en": "How it was answered", "ja": "回答までの手順"}
_SECONDS: dict[Language, str] = {"en": "{:.1f} s", "ja": "{:.1f} 秒"}
_CALLS: dict[Language, str] = {"en": "{} × LLM", "ja": "モデル呼び出し {} 回"}
_TOKENS: dict[Language, str] = {"en": "{} tokens", "ja": "{} トークン"}


def _trace(found: Sequence[Event], language: Language, say: Say, tell_origin: TellOrigin, tell_time: TellTime) -> str:
    """A decision stands under the step that it follows, because steps may end at the same time."""
    head, fork, totals = "", "", ""
    origin: Origin | None = None
    steps: dict[str, list[str]] = {}
    latest: dict[str, str] = {}
    for event in found:
        match event:
            case RunStarted():
                asked = tell_time(datetime.fromtimestamp(event.at, UTC))
                told = (asked, say(f"pipeline.{event.pipeline}"), event.index, event.model)
                head = " · ".join(map(in_line, told))
                if event.is_fork and (origin := event.origin):
                    sentence, *changes = map(in_line, tell_origin(origin))
                    fork = "\n".join((sentence, "", *(f"- {each}" for each in changes)))
            case StepFinished(step=step, attempt=attempt):
                latest[step] = f"{step} {attempt}"
                steps[latest[step]] = _step(event, origin, language, say)
            case Decision(from_step=step):
                to = say("decision.end" if event.to == END else f"step.{event.to}")
                told_why = f"  - ↳ {in_line(say(f'decision.{event.why}'))} → {in_line(to)}"
                steps.setdefault(latest.get(step, ""), []).append(told_why)
            case RunFinished():
                totals = _totals(event, language, say)
    lines = "\n".join(line for step in steps.values() for line in step)
    return "\n\n".join(filter(None, (f"### {_TRACE[language]}", head, fork, lines, totals)))


def _step(step: StepFinished, origin: Origin | None, language: Language, say: Say) -> list[str]:
    """`origin`: of a fork."""
    note = f" · ↺ {in_line(say('step.reused'))}" if step.reused else ""
    if origin and (step.step, step.attempt) == (origin.step, origin.attempt):
        note = f" · ✎ {in_line(say('step.changed'))}"
    attempt = f" #{step.attempt}" if step.attempt > 1 else ""
    seconds = _SECONDS[language].format(step.milliseconds / 1000)
    lines = [f"- {SIGNS[step.verdict]} **{in_line(say(f'step.{step.step}'))}**{attempt}{note} · {seconds}"]
    match step.detail:
        case RetrievalDetail(passages=passages) | WebSearchDetail(passages=passages):
            lines += [f"  - #{each.rank} \\[{each.number}\\] {in_line(place(each))}" for each in passages]
        case GradesDetail(grades=grades) | AssessmentDetail(grades=grades):
            for each in grades:
                score = "" if each.grade.score is None else f" {each.grade.score:.2f}"
                lines.append(f"  - {SIGNS[each.grade.verdict]} \\[{each.passage.number}\\]{score}")
    return lines


def _totals(last: RunFinished, language: Language, say: Say) -> str:
    totals = last.totals
    ended = say(f"outcome.{last.outcome}" if last.outcome else f"status.{last.status}")
    costs = [_SECONDS[language].format(totals.seconds), _CALLS[language].format(totals.model_calls)]
    if totals.tokens:  # services tell them at the end of a reply, if at all
        costs.append(_TOKENS[language].format(totals.tokens))
    return in_line(" · ".join((ended, *costs)))

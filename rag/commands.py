"""`python -m rag pipelines | ask | export`: lists the pipelines, asks a question, exports runs, from the command line.

    python -m rag pipelines
    python -m rag ask --index NAME [--pipeline NAME] [--mode vector|keyword|hybrid] [--unit chunk|section] [-k HITS]
                      [--length short|normal|long] [--tone neutral|polite|plain] [--temperature 0..2]
                      [--conversation ID] QUESTION
    python -m rag export [--format md|json] RUN_OR_CONVERSATION

Each takes --json and --language en|ja; without --pipeline, it is self_rag. With --json every line is one object; `ask`
then prints the events of its run as they happen. Exit status 0 only when all went well. The answer goes to standard
output, what happens on the way to standard error.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing

from index_store.access.access import open_access
from index_store.access.gate import as_local
from index_store.access.principal import LOCAL
from index_store.base.command_line.commands import (
    as_sentence,
    counted,
    drop_output,
    write,
    write_json,
    write_refusal,
    write_utf8,
)
from index_store.base.command_line.interrupts import INTERRUPTED
from index_store.base.command_line.language import language_of_environment
from index_store.base.command_line.terminal import write_log
from index_store.base.errors import PlainError
from index_store.base.folders import refuse_root
from index_store.search.searcher import MODES, UNITS
from rag.errors import UnknownConversation
from rag.runs.export.export import export_as_markdown
from rag.runs.export.exports import ExportFormat, Exports
from rag.runs.export.markdown import EXPORT_LABELS, ExportLabels
from rag.runs.history.for_people.user_history import UserHistory
from rag.runs.history.history import History
from rag.runs.run.options import LEAST_HITS, LENGTHS, MOST_HITS, TONES, hit_count, style
from rag.runs.run.run import Run
from rag.settings import Settings
from rag.text.language import Language
from rag.text.reply.surrogates import whole_characters
from rag.trace.events import Decision, Outcome, RunFinished, RunStarted, StepFinished, Token, to_json
from rag.trace.passages import Retrieval


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    write_utf8()
    write_log()
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except PlainError as error:
        write_refusal(error, options.language, as_json=options.json)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()  # its reader has ended
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rag", description="Ask questions, and export their runs.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object per line")
    common.add_argument(
        "--language",
        choices=("en", "ja"),
        default=language_of_environment(),
        help="language of messages (default: from LC_ALL, LC_MESSAGES or LANG)",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], what: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, parents=[common], help=what, description=as_sentence(what))
        added.set_defaults(command=run)
        return added

    add("pipelines", _pipelines, "list the pipelines with their steps")

    ask = add("ask", _ask, "ask an index a question")
    ask.add_argument("--index", required=True, metavar="NAME")
    ask.add_argument("--pipeline", default="self_rag", metavar="NAME", help="%(default)s, or another of `pipelines`")
    # No `choices`: argparse can't report unknown values in the reader's language.
    ask.add_argument("--mode", help=f"search mode, instead of the pipeline's: {', '.join(MODES)}")
    ask.add_argument("--unit", help=f"what the model reads, instead of the pipeline's: {', '.join(UNITS)}")
    ask.add_argument(
        "-k", metavar="HITS", help=f"number of hits, instead of the pipeline's: {LEAST_HITS} to {MOST_HITS}"
    )
    ask.add_argument("--length", help=f"length of the answer, instead of ANSWER_LENGTH: {', '.join(LENGTHS)}")
    ask.add_argument("--tone", help=f"tone of the answer, instead of ANSWER_TONE: {', '.join(TONES)}")
    ask.add_argument("--temperature", help="temperature of the answer, instead of ANSWER_TEMPERATURE: 0 to 2")
    ask.add_argument(
        "--conversation",
        type=whole_characters,
        metavar="ID",
        help="conversation to continue; each answer shows its id",
    )
    ask.add_argument("question", metavar="QUESTION")

    export = add("export", _export, "write a conversation or a run to standard output")
    export.add_argument("--format", choices=("md", "json"), default="md", help="Markdown (default) or JSON")
    export.add_argument(
        "name",
        type=whole_characters,
        metavar="RUN_OR_CONVERSATION",
        help="its id, from the address of a page or from `ask --json`",
    )
    return parser


# LangGraph and the client of model services take most of the start, so only the commands that need them import them.


def _pipelines(options: argparse.Namespace) -> int:
    from rag.pipelines import PIPELINES

    for each in PIPELINES.values():
        steps = list(each.graph.nodes)
        if options.json:
            write_json(json.dumps({"name": each.name, "steps": steps, "retrieval": each.retrieval.model_dump()}))
        else:
            write(f"{each.name}: {', '.join(steps)}")
    return 0


def _ask(options: argparse.Namespace) -> int:
    from rag.runs.engine import Engine

    with Engine() as process:
        engine = process.as_user(as_local)
        usual = engine.settings.style
        if options.conversation and not engine.history.conversations.exists(options.conversation):
            raise UnknownConversation(name=options.conversation)
        engine.store.right(options.index)  # a name that no index has is refused, before a conversation begins
        run = engine.ask(
            options.question,
            index=options.index,
            pipeline_name=options.pipeline,
            conversation_id=options.conversation,
            retrieval=_retrieval(options),
            style=style(
                options.length or usual.length, options.tone or usual.tone, options.temperature or usual.temperature
            ),
        )
        # Ctrl-C ends the run and the model's work, like the page's stop button.
        signal.signal(signal.SIGINT, lambda *_: run.stop())
        if options.json:
            for event in run.stream():
                write_json(to_json(event))
        else:
            for told in _told(run, options.language):
                write(told, end="")
        return 0 if run.result().status == "finished" else 1


def _retrieval(options: argparse.Namespace) -> Retrieval | None:
    """The pipeline's retrieval with the given options; None if there are none."""
    from rag.pipelines import pipeline

    given = {"mode": options.mode, "unit": options.unit, "k": None if options.k is None else hit_count(options.k)}
    changes = {name: value for name, value in given.items() if value is not None}
    return pipeline(options.pipeline).retrieval.model_copy(update=changes) if changes else None


def _told(run: Run, language: Language) -> Iterator[str]:
    """A terminal shows the answer as it is written, with drafts that a later one replaces; a file gets the last one."""
    is_watched = sys.stdout.isatty()
    writing: tuple[str, int] | None = None
    for event in run.stream():
        if isinstance(event, RunStarted):
            write(f"conversation {event.conversation_id}", to=sys.stderr)
        elif isinstance(event, Token) and is_watched:
            if writing not in (None, (event.step, event.attempt)) or event.restart:
                yield "\n"
            writing = (event.step, event.attempt)
            yield event.text
        elif isinstance(event, StepFinished):
            attempt = f" #{event.attempt}" if event.attempt > 1 else ""
            verdict = f" {event.verdict}" if event.verdict else ""
            write(f"· {event.step}{attempt}{verdict} {event.milliseconds:.0f} ms", to=sys.stderr)
            if event.fallback:
                write(f"  ! {event.fallback.sentence(language)}", to=sys.stderr)
        elif isinstance(event, Decision):
            write(f"  -> {event.to} ({event.why})", to=sys.stderr)
        elif isinstance(event, RunFinished):
            if not is_watched:
                yield event.answer
            yield from _ending(event, language)


def _export(options: argparse.Namespace) -> int:
    # Only the history, which can be read while the app runs.
    settings = Settings()
    refuse_root(settings.data_dir)
    History.refuse_newer(settings.data_dir, settings.database_url)
    # The access refuses settings that name another database than that of the folder: a history would be made there.
    with open_access(settings) as access, closing(History(settings.data_dir, settings.database_url)) as history:
        exports, everything = Exports(history, access.audit), UserHistory(history, as_local)
        form: ExportFormat = "json" if options.format == "json" else "markdown"
        found = exports.gather(options.name, form, history=everything, by=LOCAL)
    if options.format == "json":
        write_json(found.as_json(), end="")
    else:
        write(export_as_markdown(found, options.language), end="")
    return 0


def _warning(outcome: Outcome | None, words: ExportLabels) -> str | None:
    """For outcomes that need a warning, because the answer's text has none."""
    if outcome == "unconfirmed":
        return words.unconfirmed
    return words.from_model if outcome == "from_model" else None


def _ending(event: RunFinished, language: Language) -> Iterator[str]:
    words = EXPORT_LABELS[language]
    yield "\n"
    for each in event.citations:
        page = f" p. {each.page}" if each.page else ""
        outside = f"{words.web}: " if each.origin == "web" else ""
        date = f", {each.published}" if each.published else ""
        place = " > ".join(dict.fromkeys((each.title, *each.headings)))
        yield f"[{each.number}] {outside}{place}{page} ({each.source}{date})\n"
    for claim in event.unconfirmed:
        write(f"  ? {claim}", to=sys.stderr)
    if event.is_cut:
        write(words.cut[event.cut_by], to=sys.stderr)
    if event.pending:
        write(words.pending.format(count=event.pending), to=sys.stderr)
    told = event.error.sentence(language) if event.error else _warning(event.outcome, words)
    if told:
        write(told, to=sys.stderr)
    totals = event.totals
    calls, tokens = counted(totals.model_calls, "call"), counted(totals.tokens, "token")
    write(
        f"{event.status} · {totals.seconds:.1f} s · {calls} · {tokens}"
        + (f" · {event.outcome}" if event.outcome else ""),
        to=sys.stderr,
    )

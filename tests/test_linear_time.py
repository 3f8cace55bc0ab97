"""Functions that take text: their time grows in proportion to its length, also for repetitive and odd texts.

The test compares the processor time of this thread for a text and for a text of eight times its length. If the time
grows with the square of the length, the longer text takes 64 times as long. Each new function that takes text from
people, documents or models gets a row in FUNCTIONS.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date
from email.message import Message

import pytest

from index_store.access.audit.entry import cleaned_text
from index_store.access.people.typed_names import typed_address
from index_store.base.errors import DocumentError
from index_store.crawl.address import loops, unescaped
from index_store.crawl.duplicates import pieces_of
from index_store.full_text.analysis import Analyzer
from index_store.full_text.bm25 import ChunkTerms
from index_store.full_text.folding import fold
from index_store.full_text.glossary import Glossary
from index_store.full_text.words import without_breaks_in_words, words_in_order
from index_store.parsing.chunking.blocks import blocks_of, header_at
from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.chunking.text_splitter import split_text
from index_store.parsing.chunking.width import text_width
from index_store.parsing.loaders.content import unreadable
from index_store.parsing.loaders.document import Page, RawFile
from index_store.parsing.loaders.formats import format_of
from index_store.parsing.loaders.html.html import load_html
from index_store.parsing.loaders.mail.invitation import event_of
from index_store.parsing.loaders.mail.message import text_of
from index_store.parsing.loaders.mail.quoted import headed
from index_store.parsing.loaders.markdown import as_markdown, tables
from index_store.parsing.loaders.markdown.plain_headings.bold import with_bold
from index_store.parsing.loaders.markdown.plain_headings.divisions import provisions_below, with_divisions
from index_store.parsing.loaders.markdown.plain_headings.drawn import with_drawn
from index_store.parsing.loaders.markdown.plain_headings.marked import with_marks
from index_store.parsing.loaders.markdown.plain_headings.numbered import with_numbers
from index_store.parsing.loaders.markdown.plain_headings.questions import with_questions
from index_store.parsing.loaders.office import eq_field
from index_store.parsing.loaders.text.decode import with_plain_newlines
from index_store.search.hits import Hit
from index_store.search.near_duplicates import are_near_duplicates
from index_store.search.other_language import is_english
from pages.widgets.answer.answer import answer_html
from pages.widgets.answer.quoted import quoted_html
from pages.widgets.documents.index_picker import both_changes
from pages.widgets.export.html import as_html
from pages.widgets.search.results import marked
from pages.widgets.trace.views.word_diff import choice_html, rewrite_html
from pages.words.names import plain
from rag.models.context_window import ContextWindow, fit_to_context
from rag.models.embedded import grading
from rag.models.embedded.text.attribution import AttributedText, source_of
from rag.models.embedded.text.current_events import asks_about_current_events
from rag.models.embedded.text.echo import EchoFilter
from rag.models.embedded.text.first_word import FirstWord, with_first_word_whole
from rag.models.embedded.text.names import shared_names, unstated_codes, unstated_names
from rag.models.replies import (
    FollowUpsReply,
    GroundingReply,
    KeywordsReply,
    RelevanceReply,
    RouteReply,
    UsefulnessReply,
)
from rag.models.service.cited_text import CitedText
from rag.models.service.no_answer import NoAnswerFilter, says_only_that
from rag.nodes.refine import refined, strips
from rag.runs.export.export import Export, ExportedRun, export_as_markdown, file_name
from rag.runs.export.markdown import run_as_markdown
from rag.runs.run.summary import summarize_run
from rag.text.citations import cited_passages, claims, markers_of, without_markers
from rag.text.code import CodeSplitter, code_hidden
from rag.text.language import is_written_in, language_of
from rag.text.namesakes import told_apart
from rag.text.no_answer import search_account
from rag.text.overlap import features, overlap, words_in
from rag.text.question.follow_up import stands_alone, still_leans
from rag.text.question.small_talk import is_small_talk
from rag.text.quoting import in_tags, passages_block, quoted
from rag.text.repetition import repeats
from rag.text.reply.end_tokens import EndTokenFilter
from rag.text.reply.instruction_filter import InstructionFilter
from rag.text.reply.quoted_tags import QuotedTagFilter
from rag.text.reply.reasoning_filter import CLOSING, OPENING, ReasoningFilter
from rag.text.reply.surrogates import SurrogateFilter
from rag.text.reply.wrapper_filter import WrapperFilter
from rag.text.reply.written_line import written_line
from rag.trace.details import RetrievalDetail
from rag.trace.events import Event, RunFinished, RunStarted, StepFinished, Token, Totals
from rag.trace.passages import Passage

LENGTH, TIMES = 300, 8
"""characters of the shorter text, and how many times as long the longer one is"""
MOST_TIMES = 24
"""how many times as long the longer text may take: three times what it should, because the machine may be busy"""
SHORT = 0.01
"""seconds; shorter times are not compared, because they vary too much on a busy machine"""
PIECE = 4
"""characters of each token when an answer is streamed"""

REPEATED = (
    " ", "\n", "\t", "\u3000", "\u200b", "\u0301", "[1]", "[1] ", "[", "[1,", "](", "。", "！", ".", ". ", "!", "...\n",
    "a", "A ", "IT ", "a.b", "a'", "Ab", "the ", "that ", "hello ", "パ", "ﾊﾞ", "か", "は", "です", "何", "教えて",
    "字々", "1", "1,", "1.", "<", "< ", "</", "'", '"', "*", "_a", "`", "``a", "|", "| |\n", "> ", "- ", "#", "```\n",
    "`a``a```a````a", "\\", "&amp", "{", '{"a":', "{} ", "「", "NOT_IN", "question:",
    "$", "$a ", "$1 ", "$$\n", "\\(", "\\[\n", "\\frac{", "\U0001f469\u200d\U0001f467", "（甲）\n\n第1条 乙\n",
    "![](data:", "日当は 2,500円です [1]。\nThe VPN (ext. 2499) is “HazeGate”. ",
)  # fmt: skip
FRAMED = (" ", "\n", "\u3000", "1", "1,", "a", "A ", '"', "…")
"""are also put between `.` or `[` and a letter: a pattern that fails only at its end is tried again and again"""


PARTS = 3
"""of all texts. For a function that takes long, `make test` takes one part, different ones for different functions, and
`make soak` the others."""
LONG = (
    "AttributedText", "ChunkTerms", "CitedText", "CitedText, of an object", "Glossary", "InstructionFilter",
    "NoAnswerFilter", "Analyzer.matches", "Analyzer.question", "answer_html", "are_near_duplicates", "as_html",
    "choice_html", "export_as_markdown", "fit_to_context", "refined", "rewrite_html", "split_text", "still_leans",
    "summarize_run", "words_in", "words_in_order", ".csv", ".eml", ".html", ".md", ".rtf", ".txt",
)  # fmt: skip
"""functions and files that take more than a quarter of a second for all texts"""


def texts(length: int) -> Iterator[tuple[str, str]]:
    """Texts of this length, each with a name."""
    for part in REPEATED:
        yield f"{part}…", (part * length)[:length]
    for part in FRAMED:
        yield f".{part}…x", "." + (part * length)[:length] + "x"
        yield f"[{part}…x", "[" + (part * length)[:length] + "x"
    yield "[…]", "[" * (length // 2) + "]" * (length // 2)
    yield "different words", " ".join(f"Name{number}" for number in range(length // 8))


def passage(text: str, number: int = 1) -> Passage:
    return Passage(
        number=number, rank=number, score=0.8, document_id="d", section_id="s", source="a.md", title="規程",
        headings=(), page=None, text=text, start=0, end=len(text),
    )  # fmt: skip


def hit(text: str) -> Hit:
    return Hit(
        rank=1, score=0.8, chunk_id="c", section_id="s", document_id="d", source="a.md", title="規程", headings=(),
        page=None, text=text, start=0, end=len(text), best_start=len(text) // 2, best_end=len(text) // 2 + 10,
    )  # fmt: skip


def calendar(text: str) -> Message:
    part = Message()
    part.set_payload(f"BEGIN:VEVENT\nLOCATION;{text}\nSUMMARY:{text}\n{text}", "utf-8")
    return part


def in_base64(text: str) -> Message:
    part = Message()
    part["Content-Transfer-Encoding"] = "base64"
    part.set_payload(f"5LyRCg==\n{text}\n{text}", "utf-8")
    return part


PASSAGES = [
    passage("日当は1日2,500円です。宿泊を伴わない出張では半額になります。"),
    passage("The VPN client is called HazeGate. Version 2.5 needs 8 GB of memory.", 2),
]
EVERY_OTHER_LINE = {(0, line) for line in range(0, 10**5, 2)}
QUESTION = "日当は? What is the VPN 1?"
ANALYZER = Analyzer(Glossary(["パパ", "aaaa", "..", "1,1"]))
STARTED = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=0)


def streamed(
    text: str,
    into: AttributedText
    | CitedText
    | CodeSplitter
    | EndTokenFilter
    | NoAnswerFilter
    | InstructionFilter
    | ReasoningFilter
    | SurrogateFilter
    | WrapperFilter,
) -> None:
    for start in range(0, len(text), PIECE):
        into.feed(text[start : start + PIECE])
    into.end()


def fitted(text: str) -> None:
    """Fits the text to a third of its width."""
    fit_to_context([hit(text)], ContextWindow(passage=text_width(text) / 3, passages=text_width(text)))


def summarized(text: str) -> None:
    tokens = [
        Token(step="generate", attempt=1, text=text[start : start + PIECE]) for start in range(0, len(text), PIECE)
    ]
    summarize_run([STARTED, *tokens], "finished", None, 1.0)


def ended(text: str) -> tuple[Event, ...]:
    """The events of a run in which question, passage and answer are this text."""
    found = RetrievalDetail(query=text, mode="vector", unit="chunk", passages=(passage(text),))
    step = StepFinished(
        step="retrieve", attempt=1, start=0, milliseconds=1, model_calls=0, tokens_in=0, tokens_out=0, detail=found
    )
    last = RunFinished(
        status="finished", answer=text, outcome="answered", totals=Totals(), unconfirmed=(text,),
        citations=cited_passages([1], [passage(text)]),
    )  # fmt: skip
    return STARTED.model_copy(update={"question": text}), step, last


def exported(text: str) -> Export:
    return Export(exported_at=0, title=text, runs=(ExportedRun(feedback=None, events=ended(text), calls=()),))


def with_matches_marked(text: str) -> None:
    marked(text, ANALYZER.matches(ANALYZER.question(QUESTION), text), 0, len(text))


FUNCTIONS: dict[str, Callable[[str], object]] = {
    # index_store/access
    "typed_address": lambda text: (typed_address(text), typed_address(f"{text}<{text}>")),
    # index_store/access/audit
    "cleaned_text": lambda text: cleaned_text(text, ["secret", text[:9]]),
    "cleaned_text, of an address": lambda text: cleaned_text(f"https://{text}", ["secret"]),
    # index_store/crawl
    "pieces_of": pieces_of,
    # rag/text
    "without_markers": without_markers,
    "markers_of": markers_of,
    "claims": lambda text: list(claims(text)),
    "CodeSplitter": lambda text: streamed(text, CodeSplitter()),
    "code_hidden": code_hidden,
    "quoted": quoted,
    "in tags, in an attribute": lambda text: in_tags("passage", "", title=text),
    "told_apart": lambda text: told_apart(passage(text).model_copy(update={"source": text + end}) for end in "ab"),
    "passages_block": lambda text: passages_block([passage(text)]),
    "stands_alone": stands_alone,
    "still_leans": lambda text: still_leans(text, text),
    "language_of": language_of,
    "is_written_in": lambda text: (is_written_in(text, "ja"), is_written_in(text, "en")),
    "features": features,
    "overlap": lambda text: overlap(QUESTION, text),
    "words_in": lambda text: words_in(text, ["a b", "パ", "1", text]),
    "is_small_talk": is_small_talk,
    "written_line": written_line,
    "repeats": lambda text: repeats(text, [QUESTION, text]),
    "InstructionFilter": lambda text: streamed(text, InstructionFilter(QUESTION * 20)),
    "EndTokenFilter": lambda text: streamed(text, EndTokenFilter()),
    "SurrogateFilter": lambda text: streamed(text, SurrogateFilter()),
    "WrapperFilter": lambda text: streamed(text, WrapperFilter()),
    "WrapperFilter, within": lambda text: streamed("<answer>" + text, WrapperFilter()),
    "ReasoningFilter": lambda text: streamed(text, ReasoningFilter()),
    "ReasoningFilter, within": lambda text: streamed(OPENING + text, ReasoningFilter()),
    # rag/models
    "AttributedText": lambda text: streamed(text, AttributedText(QUESTION, PASSAGES)),
    "EchoFilter": lambda text: streamed(text, EchoFilter(text)),
    "with_first_word_whole": lambda text: with_first_word_whole(text, "宅勤務は"),
    "FirstWord": lambda text: FirstWord(QUESTION, PASSAGES).feed(text),
    "FirstWord, of the question": lambda text: FirstWord(text, PASSAGES).feed("宅勤務は"),
    "AttributedText, at once": lambda text: AttributedText(QUESTION, PASSAGES).feed(text),
    "source_of": lambda text: source_of(text, QUESTION, PASSAGES),
    "source_of, the passage": lambda text: source_of("日当は HazeGate 1.", QUESTION, [passage(text)]),
    "shared_names": lambda text: shared_names(text, text, QUESTION),
    "unstated_codes": lambda text: unstated_codes(text, QUESTION),
    "unstated_names": lambda text: unstated_names(text, QUESTION),
    "asks_about_current_events": asks_about_current_events,
    "grading.relevance": lambda text: grading.relevance(text, passage(text)),
    "grading.grounding": lambda text: grading.grounding(QUESTION, text, PASSAGES),
    "CitedText": lambda text: streamed(text, CitedText(PASSAGES)),
    "CitedText, at once": lambda text: CitedText(PASSAGES).feed(text),
    "CitedText, of an object": lambda text: streamed('{"answer": "' + text, CitedText(PASSAGES)),
    "says_only_that": says_only_that,
    "NoAnswerFilter": lambda text: streamed(text, NoAnswerFilter()),
    "RelevanceReply": RelevanceReply.read,
    "GroundingReply": GroundingReply.read,
    "UsefulnessReply": UsefulnessReply.read,
    "RouteReply": RouteReply.read,
    "KeywordsReply": KeywordsReply.read,
    "FollowUpsReply": FollowUpsReply.read,
    "fit_to_context": fitted,
    # rag/nodes, rag/runs
    "search_account": lambda text: search_account(text, [text], [1], "en"),
    "refined": lambda text: refined([passage(text)], strips(QUESTION, [passage(text)], ContextWindow(5000, 5000))),
    "summarize_run": summarized,
    # index_store
    "fold": fold,
    "Glossary": lambda text: (Glossary.of_lines(text), list(Glossary(["a", "aa", "パパ", "[["]).find(text))),
    "Analyzer.terms": ANALYZER.terms,
    "Analyzer.question": ANALYZER.question,
    "without_breaks_in_words": lambda text: without_breaks_in_words(fold("\n".join(text))),
    "Analyzer.matches": with_matches_marked,
    "ChunkTerms": lambda text: ChunkTerms.of(ANALYZER, "c", text, [], ""),
    "is_english": is_english,
    "are_near_duplicates": lambda text: are_near_duplicates(text, text + "w"),
    "words_in_order": words_in_order,
    "split_text": lambda text: split_text(text, 300, 40),
    "blocks_of": blocks_of,
    "with_plain_newlines": with_plain_newlines,
    "unreadable": lambda text: unreadable("a.pdf", text.encode()),
    "header_at": lambda text: header_at(f"| a |\n| --- |\n| {text}", len(text)),
    "with_divisions": lambda text: with_divisions([Page(markdown=f"第1条 甲\n{text}")]),
    "provisions_below": lambda text: provisions_below([Page(markdown=text, headings=())], 0, 0),
    "with_drawn": lambda text: with_drawn([Page(markdown="甲\n====\n乙\n\n" * 3 + text, headings=())], ()),
    "with_marks": lambda text: with_marks([Page(markdown="【甲】\n乙\n" * 3 + text, headings=())]),
    "with_numbers": lambda text: with_numbers([Page(markdown=f"3. 甲\n{text}", headings=())]),
    "with_questions": lambda text: with_questions([Page(markdown="Q1. 甲\nA1. 乙\n" * 3 + text, headings=())]),
    "with_bold": lambda text: with_bold(
        [Page(markdown="甲の件\n乙です。\n" * 3 + text, headings=())], EVERY_OTHER_LINE
    ),
    "has_no_header": lambda text: tables.has_no_header([[text] * 4] * 4),
    "paragraph": as_markdown.paragraph,
    "table": lambda text: tables.table(
        [["a", "b", "c"], ["d", "", text], ["", text, text], ["e", "", text], ["", text, text]]
    ),
    "with_raised": lambda text: as_markdown.with_raised("".join(map(as_markdown.raised, text))),
    "event_of": lambda text: event_of(calendar(text), "a.eml"),
    "headed": lambda text: headed(Page(markdown="■ 甲\n乙\n" * 3 + text, headings=())),
    "text_of": lambda text: text_of(in_base64(text), "a.eml"),
    "eq_field.shown": lambda text: eq_field.shown(f"EQ \\o\\ac({text}"),
    # pages
    "rewrite_html": lambda text: rewrite_html(text, f"{QUESTION} {text[::2]}"),
    "choice_html": lambda text: choice_html(text, [text, "1", "日当"], "detail.words"),
    "answer_html": lambda text: answer_html(text, (), None, "key"),
    "quoted_html": lambda text: quoted_html(text, len(text) // 2, len(text)),
    "plain": plain,
    "both_changes": lambda text: both_changes(text, text[::2], text[1::2]),
    # exports
    "run_as_markdown": lambda text: run_as_markdown(ended(text), "en"),
    "export_as_markdown": lambda text: export_as_markdown(exported(text), "en"),
    "Export.as_json": lambda text: Export.from_json(exported(text).as_json()),
    "as_html": lambda text: as_html(exported(text)),
    "file_name": lambda text: file_name(text, date(2026, 1, 1), ".md"),
}

OWN_TEXTS: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    # index_store
    "loops": (loops, lambda length: f"http://wiki.example/{'/'.join(map(str, range(2 * length)))}"),
    "unescaped": (unescaped, lambda length: "%97%B7" * length),
    "fold, kanji numbers": (fold, lambda length: "三日、" * length),
    "Analyzer.terms, spread kanji": (ANALYZER.terms, lambda length: "附　" * (length // 2)),
    "Analyzer.terms, dashes": (ANALYZER.terms, lambda length: "デ－" * (length // 2)),
    "Analyzer.terms, days with points": (ANALYZER.terms, lambda length: "2024.4.1 令6.4.1 " * (length // 16)),
    "Analyzer.terms, telephone numbers": (ANALYZER.terms, lambda length: "(03 1234-" * (length // 9)),
    "Analyzer.terms, percentages": (ANALYZER.terms, lambda length: "百分の三割" * (length // 5)),
    "Analyzer.terms, amounts": (ANALYZER.terms, lambda length: "$1,500" * (length // 6)),
    "Analyzer.terms, counts in words": (ANALYZER.terms, lambda length: "twenty-one more " * (length // 16)),
    "Analyzer.question, greetings": (
        ANALYZER.question,
        lambda length: "いつもお世話に\nthanks,\n" * (length // 16),
    ),
    "Analyzer.terms, a word of katakana": (ANALYZER.terms, lambda length: "デ" * length),
    "Analyzer.question, words with hyphens": (ANALYZER.question, lambda length: "Wi-Fi " * (length // 4)),
    # rag/text
    "SurrogateFilter, half characters": (
        lambda text: streamed(text, SurrogateFilter()),
        lambda length: "\ud83d" * length,
    ),
    "answer_html, a wide row": (
        lambda text: answer_html(f"|a|b|\n|-|-|\n{text}", (), None, "key"),
        lambda length: "|`" + "|b" * length,
    ),
    "QuotedTagFilter": (lambda text: streamed(text, QuotedTagFilter()), lambda length: "«user " * (length // 4)),
    "EndTokenFilter, tokens": (lambda text: streamed(text, EndTokenFilter()), lambda length: "</s> " * (length // 2)),
    "ReasoningFilter, tags in code": (
        lambda text: ReasoningFilter().feed(text),
        lambda length: "It is `" + CLOSING * length,
    ),
    "load_html, a class of many words": (
        lambda text: load_html(f"<p>a</p><div class='{text}'>b</div>", "a.html"),
        lambda length: f"cookie{'_a' * length}! ad{'_a' * length}! {'a_cookie_' * length}! {'a_' * length}pankuzu!",
    ),
    "load_html, questions in lists": (
        lambda text: load_html(text, "a.html"),
        lambda length: "<ul><li><dl><dt><b>どこですか</b><dd><b class=q-a>何ですか" * (length // 4),
    ),
    "ReasoningFilter, of many parts": (
        lambda text: ReasoningFilter().feed(text),
        lambda length: f"{OPENING}{CLOSING}" * length,
    ),
}
"""functions, each with a text of this length that concerns no other"""

FILES = {
    ".txt": "", ".md": "", ".csv": "", ".html": "", ".rtf": "{\\rtf1 ",
    ".eml": "Subject: Trains\nContent-Type: text/plain; charset=utf-8\n\n",
}  # fmt: skip
"""suffixes of text formats, and how such a file begins"""


soak = pytest.mark.soak
WITHIN = {"Analyzer.terms": "ChunkTerms", "run_as_markdown": "export_as_markdown"}
"""functions that another one calls with the same text: in `make soak`"""


def in_parts(names: Iterable[str]) -> list[object]:
    """Each name with a part of the texts, or with all of them."""
    found: list[object] = []
    for number, name in enumerate(names):
        if name in LONG:
            for part in range(PARTS):
                marks = () if part == number % PARTS else soak
                found.append(pytest.param(name, slice(part, None, PARTS), id=f"{name}-{part}", marks=marks))
        else:
            found.append(pytest.param(name, slice(None), id=name, marks=soak if name in WITHIN else ()))
    return found


@pytest.mark.parametrize(("name", "part"), in_parts(FUNCTIONS))
def test_time_grows_in_step_with_the_length_of_a_text(name, part):
    assert too_slow(FUNCTIONS[name], part) == {}


@pytest.mark.parametrize("name", OWN_TEXTS)
def test_time_grows_in_step_with_the_length_of_the_text_that_concerns_a_function(name):
    function, text = OWN_TEXTS[name]
    function(text(LENGTH))  # loads what is loaded only once
    assert growth_of(function, text(LENGTH), text(LENGTH * TIMES)) <= MOST_TIMES


@pytest.mark.parametrize(("suffix", "part"), in_parts(FILES))
def test_time_to_read_and_chunk_a_file_grows_in_step_with_its_length(suffix, part, tmp_path):
    load, path = format_of(f"trains{suffix}").loader(), tmp_path / f"trains{suffix}"

    def chunks(text: str) -> None:
        path.write_text(FILES[suffix] + text, encoding="utf-8")
        with suppress(DocumentError):
            chunk_document(load(RawFile(path, path.name)), 300, 40)

    assert too_slow(chunks, part) == {}


def too_slow(function: Callable[[str], object], part: slice) -> dict[str, str]:
    """Names of the texts for which it is too slow, and how many times as long the longer text takes."""
    function(QUESTION)  # loads what is loaded only once
    both = list(zip(texts(LENGTH), texts(LENGTH * TIMES), strict=True))[part]
    growth = {told: growth_of(function, text, longer) for (told, text), (_, longer) in both}
    return {told: f"{times:.0f} times" for told, times in growth.items() if times > MOST_TIMES}


def growth_of(function: Callable[[str], object], text: str, longer: str) -> float:
    """How many times as long the longer text takes; 0 if that is clearly not too long."""
    long = spent(function, longer)
    if long < SHORT or long <= MOST_TIMES * spent(function, text):
        return 0.0
    # Another process may have disturbed it. Each try uses another text, because some functions cache their results.
    short, long = (min(spent(function, first + each) for first in "xyz") for each in (text, longer))
    return long / short


def spent(function: Callable[[str], object], text: str) -> float:
    """Seconds of this thread's processor time."""
    begun = time.thread_time()
    function(text)
    return time.thread_time() - begun

"""The texts of the pages: both languages have the same keys and parts, and the code uses exactly these keys."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from index_store.access.audit.entry import Action
from index_store.access.limits import GroupLimits
from index_store.access.principal import Role
from index_store.access.rights import GranteeKind, Right
from index_store.catalogue.records import DocumentStatus
from index_store.full_text.words import DropReason
from index_store.ingestion.progress import Stage
from index_store.ingestion.results import IngestStatus
from index_store.search.searcher import MODES, UNITS
from pages.texts import texts
from pages.widgets.frame.sign_in import OUTCOMES
from pages.widgets.search.question_words import Found
from pages.widgets.trace.fork.origin import VERDICTS
from pages.widgets.trace.graph import VIEWS
from rag.models.calls.prompt import MessageRole
from rag.models.client.client import REPLY_FORMATS
from rag.pipelines import PIPELINES
from rag.runs.export.markdown import EXPORT_LABELS
from rag.runs.history.for_people.run_list import CAUSES, ORDERS, STATES
from rag.runs.run.options import LENGTHS, TONES
from rag.text.language import Language
from rag.trace.calls import Call
from rag.trace.derived.standalone import STANDALONE_STEP
from rag.trace.details import AssessmentDetail, CutBy, NotUsed, Route, StandaloneDetail
from rag.trace.events import Outcome, RunStatus, Style
from rag.trace.grades import Level, Verdict
from rag.trace.passages import Retrieval

ROOT = Path(__file__).parent.parent.parent
KANA_OR_HAN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")
SAME_IN_BOTH = {"app.name", "pipeline.self_rag", "route.web"}
"""names, which are not translated"""


TURNED = {
    f"{step}_{verdict}"
    for step in ("check_grounding", "check_usefulness", "decide_retrieval")
    for verdict in ("yes", "no")
}
"""verdicts of a step that a fork changes to the opposite"""


@cache
def nodes(folder: str) -> list[ast.AST]:
    """The syntax nodes of all modules in the folder; for `pages`, also those of `app.py`."""
    paths = sorted([*(ROOT / folder).rglob("*.py"), *[ROOT / "app.py"] * (folder == "pages")])
    return [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def calls(folder: str, name: str) -> Iterator[ast.Call]:
    for node in nodes(folder):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def literals(folder: str, name: str, argument: int = 0) -> set[str]:
    """The strings with which `name` is called at this position; not those that have a name."""
    arguments = [call.args[argument] for call in calls(folder, name)]
    found = {ast.literal_eval(each) for each in arguments if not isinstance(each, ast.JoinedStr | ast.Name)}
    assert all(isinstance(each, str) for each in found)
    return found


def pattern(node: ast.JoinedStr) -> str:
    """f"step.{row.step}" -> "step.{}" """
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


def steps() -> set[str]:
    nodes_of_pipelines = {name for each in PIPELINES.values() for name in each.graph.nodes}
    return nodes_of_pipelines | literals("rag", "Step") | {STANDALONE_STEP}


def noted_facts() -> set[str]:
    """Names of the facts that calls of `Audit.note` hand in; the index stands in a column of its own."""
    noted = [
        call
        for call in (*nodes("rag"), *nodes("index_store"))
        if isinstance(call, ast.Call) and call.args and re.match(r"Action\.[A-Z]|action$", ast.unparse(call.args[0]))
    ]
    return {keyword.arg for call in noted for keyword in call.keywords if keyword.arg} - {"index"}


FACTS_IN_DICTIONARIES = {"grantee", "count", "since", "line"}
"""facts whose names no call of `Audit.note` has"""
WITHOUT_RESULTS = {"off", "failed", "nothing"}
OF_SOMEBODY = {"indexes", "shared_indexes", "delete", "about", "logged"}


@cache
def families() -> dict[str, set[str]]:
    """Pattern of a key that is an f-string -> all values that can replace its braces."""
    return {
        "pipeline.{}": set(PIPELINES),
        "pipeline.{}_help": set(PIPELINES),
        "step.{}": steps(),
        "decision.{}": literals("rag/pipelines", "Choice", 1),
        "status.{}": set(get_args(RunStatus)),
        "outcome.{}": set(get_args(Outcome)),
        "cut.{}": set(get_args(CutBy)),
        "outcome.{}_note": {"unconfirmed", "not_in_documents", "from_model"},
        "standalone.{}": set(get_args(StandaloneDetail.model_fields["why"].annotation)),
        "manner.{}": {*LENGTHS, *TONES},
        "stage.{}": {Stage.READING, Stage.EMBEDDING},
        "state.{}": {each for each in (*DocumentStatus, "outdated", "partial") if each != DocumentStatus.REMOVING},
        "job.{}": {f"{status}{number}" for status in IngestStatus for number in ("", "_one")},
        "table.{}": {"status", "kind", "origin"},
        "keywords.{}": set(get_args(NotUsed)),
        "route.{}": set(get_args(Route)),
        "why.{}": {"greeting", "todays_world", "model", "in_doubt", "failed"},
        "web.{}": WITHOUT_RESULTS,
        "web.{}_note": WITHOUT_RESULTS,
        "assessment.{}": set(get_args(AssessmentDetail.model_fields["action"].annotation)),
        "options.{}": {*Retrieval.model_fields, *Style.model_fields},
        "detail.{}_missing": {"vector", "keyword"},
        "app.{}": {"chat", "documents", "search", "runs", "compare", "people", "usage", "audit", "my_data"},
        "audit.{}": {"today", "week", "month", "ever", "person", "words", "later", "earlier"},
        "access.{}": {*GranteeKind, *(right.name.lower() for right in Right)},
        "action.{}": set(Action),
        "fact.{}": noted_facts() | FACTS_IN_DICTIONARIES,
        "share.{}": {"run", "conversation"},
        "my_data.{}": OF_SOMEBODY,
        "my_data.{}_of": OF_SOMEBODY,
        "usage.{}": {*GroupLimits.model_fields, "people", "indexes"}
        | {"who", "runs_today", "tokens_today", "runs", "tokens", "index", "owner", "files", "size"},
        "change.{}": {"search", "found", "passages", "prompt", "gone", "newer", "left_out", "taken_in", *VERDICTS}
        | {"query", *Retrieval.model_fields, "newer_version", "prompt_anew", *TURNED},
        "compare.{}": {"outcome", "seconds", "calls", "tokens", "tokens_in", "tokens_out", "rewrites", "generations"},
        "search.{}": {*MODES, *UNITS, *DropReason, *get_args(Found)},
        "search.{}_help": set(MODES),
        "search.{}_rank": set(MODES),
        "search.{}_unranked": set(MODES),
        "detail.{}": set(get_args(Verdict)),
        "detail.{}{}": {"".join(pair) for pair in product(("", "relevant_", "need_"), ("yes", "no"))},
        "call.{}": {*get_args(Call.model_fields["status"].annotation), *REPLY_FORMATS.values()} - {"finished"},
        "message.{}": set(get_args(MessageRole)),
        "task.{}": literals("rag", "CallSubject"),
        "grounding.{}": set(get_args(Level)),
        "graph.{}": set(VIEWS),
        "cause.{}": set(CAUSES),
        "cause.{}_note": set(CAUSES),
        "order.{}": set(ORDERS),
        "runs.{}": {*STATES, "newer", "older"},
        "people.{}": {*Role, "before", "after"},
        "sign_in.{}": set(OUTCOMES),
        "runs.{}_any": {"state", "why", "pipeline", "index"},
    }


@cache
def sections() -> set[str]:
    return {key.partition(".")[0] for key in texts("en")}


def is_key(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[a-z]+\.(?!py$)[a-z_]+", node.value) is not None
        and node.value.partition(".")[0] in sections()
    )


def patterns() -> set[str]:
    """The patterns of the f-strings in calls of `say` and `counted`."""
    asked = [*calls("pages", "say"), *calls("pages", "counted")]
    arguments = [node for call in asked for node in ast.walk(call.args[0])]
    return {pattern(node) for node in arguments if isinstance(node, ast.JoinedStr)}


def keys_in_use() -> set[str]:
    named = {node.value for node in nodes("pages") if is_key(node)}
    asked = {
        call.args[0].value for call in calls("pages", "say") if call.args and isinstance(call.args[0], ast.Constant)
    }
    by_number = {f"{key}_one" for key in literals("pages", "counted")} | literals("pages", "counted")
    of_families = {each.format(*[""] * (each.count("{}") - 1), value)
                   for each in patterns() if each in families() for value in families()[each]}  # fmt: skip
    return named | asked | by_number | of_families


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_keys_in_the_same_order():
    assert list(texts("ja")) == list(texts("en"))


def test_a_text_has_the_same_parts_in_both_languages():
    assert [key for key, text in texts("en").items() if fields(texts("ja")[key]) != fields(text)] == []


def test_english_texts_hold_no_japanese():
    assert [key for key, text in texts("en").items() if KANA_OR_HAN.search(text)] == []


def test_japanese_texts_hold_japanese():
    without_parts = {key: re.sub(r"\{\w+\}", "", text) for key, text in texts("ja").items()}
    foreign = {key for key, text in without_parts.items() if re.search(r"\w", text) and not KANA_OR_HAN.search(text)}
    assert foreign == SAME_IN_BOTH


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_filter_of_the_runs_has_the_name_of_the_result_that_it_finds(language: Language) -> None:
    page = texts(language)
    for state, outcome in {"unconfirmed": "unconfirmed", "no_answer": "not_in_documents"}.items():
        assert page[f"runs.{state}"].lower() == page[f"outcome.{outcome}"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_file_and_the_command_line_say_of_an_answer_what_the_page_says(language: Language) -> None:
    page, file = texts(language), EXPORT_LABELS[language]
    assert file.web == page["web.mark"]
    said = {
        "chat.removed": file.removed,
        "chat.stopped": file.stopped,
        "outcome.unconfirmed_note": file.unconfirmed,
        "outcome.not_in_documents_note": file.not_in_documents,
        "outcome.from_model_note": file.from_model,
        "job.more": file.more,
        **{f"cut.{by}": words for by, words in file.cut.items()},
    }
    # The page may go on with what to do there.
    assert [key for key, words in said.items() if not page[key].startswith(words)] == []


def test_every_key_that_a_page_builds_belongs_to_a_family_whose_members_are_known():
    parameter_of_counted = {"{}_one"}
    assert patterns() - parameter_of_counted <= families().keys()


def test_every_key_that_a_page_uses_has_a_text():
    assert keys_in_use() - texts("en").keys() == set()


def test_no_text_is_left_over():
    assert texts("en").keys() - keys_in_use() == set()


def test_a_family_of_keys_has_members():
    """Otherwise, if a registry were moved, there would be nothing to check."""
    assert [family for family, members in families().items() if not members] == []


def test_every_call_gives_the_parts_that_its_text_has():
    for call in calls("pages", "say"):
        given = {keyword.arg for keyword in call.keywords}
        for node in filter(is_key, ast.walk(call.args[0])):
            assert None in given or given == fields(texts("en")[node.value]), f"{node.value}, line {call.lineno}"
    for key in literals("pages", "counted"):
        assert (fields(texts("en")[key]), fields(texts("en")[f"{key}_one"])) == ({"count"}, set())


def test_only_buttons_that_have_a_sign_hide_their_words():
    """The style sheet knows them by the beginning of their key, also within the class of a part around them."""
    style = (ROOT / "pages" / "assets" / "style.css").read_text(encoding="utf-8")
    drawn = tuple(re.findall(r'"st-key-(sign-[a-z]+-)"', style))
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "pages").rglob("*.py")]
    keys = [key for module in modules for key in re.findall(r'key=f?"(sign-[^"{]*)', module)]
    assert [key for key in keys if key != "sign-" and not key.startswith(drawn)] == []


@pytest.mark.parametrize(("language", "word"), [("ja", "上の"), ("en", "above")])
def test_a_note_below_an_answer_does_not_say_where_its_trace_stands(language, word):
    """In the chat it is above the note, in a comparison and in a file below."""
    notes = {key: text for key, text in texts(language).items() if key.startswith("outcome.") and key.endswith("_note")}
    assert len(notes) == 5
    assert [key for key, text in notes.items() if word in text] == []


@pytest.mark.parametrize(("language", "reasons"), [("ja", "変更 削除 権限"), ("en", "changed removed may")])
def test_a_passage_without_its_document_is_explained_by_each_possible_reason(language, reasons):
    """The page must not say which one it is: a document that a person may not read looks as if it did not exist."""
    assert [each for each in reasons.split() if each not in texts(language)["chat.gone"]] == []

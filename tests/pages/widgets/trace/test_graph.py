"""The graph of a run: its layout for all pipelines, and the path of the run in it."""

import re
import sqlite3
from collections.abc import Callable
from itertools import combinations, pairwise
from unicodedata import east_asian_width
from urllib.parse import unquote

import pytest

from pages.texts import texts
from pages.widgets.trace.graph import graph_html, unrolled_html
from pages.widgets.trace.layout import WIDTH, Box, Points, layout_of, path_data
from rag.pipelines import PIPELINES
from rag.runs.history.schema import FILE
from rag.runs.run.run import Run
from rag.trace.derived.path import END, START, Edge, Path, PipelineGraph, path_of
from rag.trace.events import RunFinished, StepStarted, Totals, to_json
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.fork_form import trace_of
from tests.rag.trace.steps import decision, finished

QUESTION = "Who approves the green car?"
DECIDED = (
    *(Edge("fork", each) for each in ("one", "two", "three", END)),
    *(Edge(each, "join") for each in ("two", "three")),
    Edge("two", "two"),
    Edge("three", "fork"),
    Edge("join", "one"),
    Edge("join", END),
)
THREE_BESIDE_EACH_OTHER = PipelineGraph(
    nodes=(START, "fork", "one", "two", "three", "join", END),
    edges=(Edge(START, "fork"), Edge("one", "join"), *DECIDED),
    decided=frozenset(DECIDED),
)
FLOWS = [*(each.flow for each in PIPELINES.values()), THREE_BESIDE_EACH_OTHER]
all_flows = pytest.mark.parametrize("flow", FLOWS, ids=[*PIPELINES, "three beside each other"])
LETTER = 7.2
"""pixels of a narrow letter in a node; a wide letter takes twice as many"""


def strips(points: Points) -> list[Box]:
    """The pieces of a line, as boxes whose width or height is 0."""
    return [
        Box(min(a, c), min(b, d), abs(a - c), abs(b - d)) for (a, b), (c, d) in pairwise(points) if (a, b) != (c, d)
    ]


def meet(one: Box, other: Box) -> bool:
    """Whether two boxes overlap; a common edge does not count."""
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@all_flows
def test_every_node_is_drawn_once_within_the_width_and_apart_from_the_others(flow):
    layout = layout_of(flow)
    assert set(layout.boxes) == set(flow.nodes)
    assert all(
        box.x >= 0 and box.x + box.width <= WIDTH and box.bottom <= layout.height for box in layout.boxes.values()
    )
    assert not any(meet(one, other) for one, other in combinations(layout.boxes.values(), 2))


@all_flows
def test_every_edge_leads_from_its_source_to_its_target_and_through_no_box(flow):
    layout = layout_of(flow)
    assert set(layout.lines) == set(flow.edges)
    for edge, points in layout.lines.items():
        assert points[0] == (layout.boxes[edge.source].middle, layout.boxes[edge.source].bottom)
        assert points[-1] == (layout.boxes[edge.to].middle, layout.boxes[edge.to].y)
        assert all(a == c or b == d for (a, b), (c, d) in pairwise(points))
        assert all(0 <= x <= WIDTH for x, _ in points)
        assert not any(meet(strip, box) for strip in strips(points) for box in layout.boxes.values())


@all_flows
def test_lines_to_different_nodes_never_lie_on_each_other_in_a_lane(flow):
    layout = layout_of(flow)
    lanes = [(edge.to, strips(points)[2]) for edge, points in layout.lines.items() if len(points) == 6]
    for (to, one), (other_to, other) in combinations(lanes, 2):
        if to != other_to and one.x == other.x:
            assert one.bottom < other.y or other.bottom < one.y


@all_flows
def test_every_branch_has_room_for_its_reason_where_no_box_and_no_other_reason_is(flow):
    layout = layout_of(flow)
    assert set(layout.labels) == flow.decided
    for edge, label in layout.labels.items():
        assert label.x >= 0
        assert label.x + label.width <= WIDTH
        assert not any(meet(label, box) for box in layout.boxes.values())
        assert not any(meet(label, other) for other_edge, other in layout.labels.items() if other_edge != edge)
        source, height = layout.boxes[edge.source], label.y + label.height / 2
        assert label.x < source.middle < label.x + label.width
        assert any(strip.x <= source.middle <= strip.x + strip.width and strip.y <= height <= strip.bottom
                   for strip in strips(layout.lines[edge]))  # fmt: skip


def test_loops_go_up_on_the_left_of_all_nodes():
    layout = layout_of(PIPELINES["self_rag"].flow)
    for edge in (Edge("rewrite_question", "retrieve"), Edge("check_answer", "generate")):
        assert min(x for x, _ in layout.lines[edge]) < min(box.x for box in layout.boxes.values())


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("name", PIPELINES)
def test_the_names_of_nodes_fit_two_lines_of_their_boxes(name, language):
    for node, box in layout_of(PIPELINES[name].flow).boxes.items():
        if node not in (START, END):
            told = f"{texts(language)[f'step.{node}']} ×2"
            letters = sum(2 if east_asian_width(each) in "WF" else 1 for each in told)
            assert letters * LETTER <= 2 * (box.width - 14), node


ROUND = [
    finished("start_model"),
    finished("retrieve"),
    finished("grade_documents"),
    decision("grade_documents", "rewrite_question", "nothing_relevant"),
    finished("rewrite_question"),
    decision("rewrite_question", "retrieve", "reworded"),
    finished("retrieve", 2),
    StepStarted(step="grade_documents", attempt=2, start=1),
]
FLOW = PIPELINES["self_rag"].flow


@pytest.fixture
def going_round() -> Path:
    return path_of(ROUND, FLOW)


def masked(html: str) -> list[str]:
    """The SVG of all lines, and the SVG of the lines that the run took."""
    return [unquote(each) for each in re.findall(r"data:image/svg\+xml,([^&]+)&quot;", html)]


def nodes(html: str) -> dict[str, tuple[str, str]]:
    """The element and the classes of each node, by its text."""
    found = re.findall(r'<(button|span) class="(node[^"]*)".*?>(.*?)</\1>', html)
    return {re.sub("<.*?>", "", told): (element, kinds) for element, kinds, told in found}


def test_the_lines_that_are_bold_are_those_that_the_events_tell_of(going_round):
    every, taken = masked(graph_html(FLOW, going_round, "k"))
    lines = layout_of(FLOW).lines
    assert all(path_data(line) in every for line in lines.values())
    was_taken = {each.edge for each in going_round.crossings}
    assert {edge for edge, line in lines.items() if path_data(line) in taken} == was_taken


def test_nodes_tell_how_often_they_were_visited_and_which_is_at_work(going_round):
    shown = nodes(graph_html(FLOW, going_round, "k"))
    assert shown["Retrieve ×2"] == ("button", "node visited")
    assert shown["Grade passages ×2"] == ("button", "node visited current")
    assert shown["Rewrite the question"] == ("button", "node visited")
    assert shown["Write the answer"] == ("span", "node")
    assert shown["Start the model"][0] == "button"
    assert sum("current" in kinds for _, kinds in shown.values()) == 1


def test_the_reason_of_a_branch_stands_at_its_edge(going_round):
    html = graph_html(FLOW, going_round, "k")
    reasons = re.findall(r'class="reason" style="[^"]*top: (\d+)px[^"]*" title="([^"]*)"', html)
    labels = layout_of(FLOW).labels
    assert {why: float(y) for y, why in reasons} == {
        "no relevant passage": pytest.approx(labels[Edge("grade_documents", "rewrite_question")].y, abs=1),
        "another query": pytest.approx(labels[Edge("rewrite_question", "retrieve")].y, abs=1),
    }


def test_the_picture_tells_the_way_in_words(going_round):
    [told] = re.findall(r'role="img" aria-label="([^"]*)"', graph_html(FLOW, going_round, "k"))
    assert "Start the model → Retrieve → Grade passages (no relevant passage) → Rewrite the question" in told


def test_a_step_that_was_cut_short_is_marked_and_no_longer_at_work():
    over = RunFinished(status="stopped", answer="", outcome=None, citations=(), totals=Totals())
    shown = nodes(graph_html(FLOW, path_of([*ROUND, over], FLOW), "k"))
    assert shown["Grade passages ×2"] == ("button", "node visited broken")


def test_unrolled_every_visit_stands_in_its_order_with_its_attempt_and_the_reasons_between(going_round):
    html = unrolled_html(going_round, "k")
    items = [re.sub("<.*?>", "", each) for each in re.findall("<li.*?</li>", html)]
    assert items == [
        "Start the model",
        "Retrieve",
        "Grade passages",
        "↳ no relevant passage → Rewrite the question",
        "Rewrite the question",
        "↳ another query → Retrieve",
        "Retrieve (attempt 2)",
        "Grade passages (attempt 2)",
    ]
    assert re.findall('data-opens="(.*?)"', html)[-1] == "k-grade_documents-2"


def test_words_of_another_versions_history_are_no_html():
    hostile = "<script>alert(1)</script>"
    events = [finished(hostile), finished("retrieve"), decision("retrieve", hostile, hostile)]
    path = path_of(events, FLOW)
    for html in (graph_html(FLOW, path, "k"), unrolled_html(path, "k")):
        assert "<script" not in html
        assert "script" in html


@pytest.fixture
def asked(handbook, engine) -> Callable[..., Run]:
    """Asks the question, without a page; returns the run when it has ended."""

    def asked(conversation: str | None = None) -> Run:
        run = engine.ask(QUESTION, index="handbook", conversation_id=conversation, pipeline_name="naive")
        assert run.result().status == "finished"
        return run

    return asked


def graphs(page: ChatPage) -> list[str]:
    return [each.value for each in page.app.html if 'class="run-graph"' in each.value]


def open_trace(page: ChatPage, run: Run) -> None:
    page.app.session_state[f"trace-{run.id}"] = True
    page.look()


def test_the_trace_of_a_run_begins_with_its_graph_which_a_switch_unrolls(asked):
    run = asked()
    page = ChatPage(conversation=run.conversation_id)
    assert graphs(page) == []  # the trace is folded
    open_trace(page, run)
    [drawn] = graphs(page)
    assert [nodes(drawn)[each] for each in ("Retrieve", "Write the answer")] == [("button", "node visited")] * 2
    opened = re.findall('data-opens="(.*?)"', drawn)
    assert opened == [f"past-{run.id}-retrieve-1", f"past-{run.id}-generate-1"]
    page.app.button_group(key=f"view-past-{run.id}").set_value("unrolled")
    page.look()
    [unrolled] = graphs(page)
    assert 'class="unrolled"' in unrolled
    assert re.findall('data-opens="(.*?)"', unrolled) == opened


def test_the_view_that_was_picked_is_the_one_of_the_next_trace(asked):
    first = asked()
    page = trace_of(first)
    page.app.button_group(key=f"view-past-{first.id}").set_value("unrolled")
    page.look()
    open_trace(page, asked(first.conversation_id))
    assert [('class="unrolled"' in each) for each in graphs(page)] == [True, True]


def test_a_run_of_a_pipeline_that_is_not_known_has_no_graph_but_its_rows(asked, engine):
    run = asked()
    [started, *_] = engine.history.events(run.id)
    with sqlite3.connect(engine.settings.data_dir / FILE) as history:
        later = to_json(started.model_copy(update={"pipeline": "of_tomorrow"}))
        history.execute("UPDATE events SET event = ? WHERE run_id = ? AND position = 0", (later, run.id))
    history.close()
    page = trace_of(run)
    assert graphs(page) == []
    assert any("Write the answer" in each.label for each in page.app.expander)

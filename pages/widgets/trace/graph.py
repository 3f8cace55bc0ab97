"""The graph of a run's pipeline with the path of the run, and the same path unrolled step by step.

The lines are an SVG mask over an area in the colour of the text, because a page's HTML may contain no SVG. Nodes are
buttons that open the rows of the trace. Reasons: docs/decisions/runs/graph-of-a-run.md
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from urllib.parse import quote

import streamlit as st

from pages.widgets.controls.script import show_script
from pages.widgets.trace.layout import WIDTH, Box, layout_of, path_data
from pages.words.say import say
from rag.pipelines import PIPELINES
from rag.trace.derived.path import END, START, Edge, Path, PipelineGraph, StepVisit, path_of
from rag.trace.events import Event, started_of

VIEWS = ("drawn", "unrolled")

PICKED = "view of the graph"
"""in the session: the view that was picked last, used for traces that are opened later"""

LINE, TAKEN = 1.2, 3.0
"""pixels"""


def land_on(row: str) -> None:
    """Opens the row with this key for readers who come by the page's address."""
    show_script("open_rows", lands=row)


def row_key(key: str, step: str, attempt: int) -> str:
    """The key of a step's row in the trace `key`."""
    return f"{key}-{step}-{attempt}"


def show_graph(events: Sequence[Event], key: str, usual: str | None) -> None:
    """`key`: key of the trace. `usual`: one of VIEWS, or None for no view, until somebody picks one. Shows nothing for
    a pipeline that this version does not have.
    """
    started = started_of(events)
    if not started or started.pipeline not in PIPELINES:
        return
    with st.container(key=f"graph-{key}", gap="xsmall"):
        picked = f"view-{key}"
        view = st.segmented_control(
            say("graph.label"),
            VIEWS,
            default=st.session_state.get(PICKED, usual),
            format_func=lambda each: say(f"graph.{each}"),
            key=picked,
            on_change=lambda: st.session_state.update({PICKED: st.session_state[picked]}),
            label_visibility="collapsed",
        )
        if not view:
            return
        flow = PIPELINES[started.pipeline].flow
        path = path_of(events, flow)
        st.html(graph_html(flow, path, key) if view == "drawn" else unrolled_html(path, key))
        show_script("open_rows")


def graph_html(flow: PipelineGraph, path: Path, key: str, *, in_file: bool = False) -> str:
    """`in_file`: without the script; nodes are links to elements whose id is the key of their row."""
    layout = layout_of(flow)
    taken = frozenset(crossing.edge for crossing in path.crossings) & layout.lines.keys()
    nodes = "".join(_node(node, box, path, key, in_file) for node, box in layout.boxes.items())
    reasons = "".join(
        _reason(layout.labels[edge], layout.boxes[edge.source].middle, told)
        for edge, told in _reasons(path).items()
        if edge in layout.labels
    )
    before = "".join(f"<li>{_opener(each, path, key, in_file)}</li>" for each in path.before)
    return (
        f'<div class="run-graph">{f"<ol>{before}</ol>" if before else ""}'
        f'<div class="drawing" style="height: {layout.height:.0f}px">'
        f'<div class="lines" role="img" aria-label="{escape(in_words(path))}" style="{_mask(flow, None)}"></div>'
        f'<div class="lines taken" style="{_mask(flow, taken)}"></div>{nodes}{reasons}</div></div>'
    )


def unrolled_html(path: Path, key: str, *, in_file: bool = False) -> str:
    """All visits in the order of their starts, with the reasons between them. `in_file`: as above."""
    items = [f"<li>{_opener(each, path, key, in_file)}</li>" for each in path.before]
    for move in path.moves:
        if isinstance(move, StepVisit):
            items.append(f"<li>{_opener(move, path, key, in_file)}</li>")
        elif move.why:
            items.append(f'<li class="reason">{escape(decision_text(move.why, move.edge.to))}</li>')
    return f'<div class="run-graph"><ol class="unrolled">{"".join(items)}</ol></div>'


def in_words(path: Path) -> str:
    """Retrieve → Grade passages (no relevant passage) → Rewrite the question"""
    words: list[str] = [name_of(each.step) for each in path.before]
    for move in path.moves:
        if isinstance(move, StepVisit):
            words.append(name_of(move.step))
        elif move.why and words:
            words[-1] += f" ({say(f'decision.{move.why}')})"
    return say("graph.path", path=" → ".join(words))


def name_of(node: str) -> str:
    if node in (START, END):
        return say("graph.start") if node == START else say("decision.end")
    return say(f"step.{node}")


def decision_text(why: str, to: str) -> str:
    """`to`: a step, or END."""
    return f"↳ {say(f'decision.{why}')} → {name_of(to)}"


def attempt_text(attempt: int) -> str:
    """In brackets; empty for the first attempt."""
    return f"({say('step.attempt', attempt=attempt)})" if attempt > 1 else ""


def _node(node: str, box: Box, path: Path, key: str, in_file: bool) -> str:
    latest = next((visit for visit in reversed(path.visits) if visit.step == node), None)
    kinds = ["node"]
    if node in (START, END):
        kinds.append("start" if node == START else "end")
    if latest or (node in (START, END) and any(node in crossing.edge for crossing in path.crossings)):
        kinds.append("visited")
    place = f'style="{_place(box)}"'
    if not latest:
        return f'<span class="{" ".join(kinds)}" {place}>{escape(name_of(node))}</span>'
    count = path.visit_counts[node]
    told = f"{escape(name_of(node))}{f' <b>×{count}</b>' if count > 1 else ''}"
    return _button(latest, key, in_file, told, (*kinds, *_state(latest, path)), place)


def _opener(visit: StepVisit, path: Path, key: str, in_file: bool) -> str:
    told = escape(name_of(visit.step))
    if attempt := attempt_text(visit.attempt):
        told += f" <small>{escape(attempt)}</small>"
    return _button(visit, key, in_file, told, ("node", "visited", *_state(visit, path)))


def _button(visit: StepVisit, key: str, in_file: bool, told: str, kinds: Iterable[str], place: str = "") -> str:
    """`told`: HTML."""
    row = row_key(key, visit.step, visit.attempt)
    tag, opens = ("a", f'href="#{quote(row)}"') if in_file else ("button", f'data-opens="{escape(row)}"')
    title = escape(say("graph.open"))
    current = ' aria-current="step"' if "current" in kinds else ""
    return f'<{tag} class="{" ".join(kinds)}" {opens} title="{title}"{current} {place}>{told}</{tag}>'


def _state(visit: StepVisit, path: Path) -> tuple[str, ...]:
    if visit in path.current:
        return ("current",)
    return () if visit.went_through else ("broken",)


def _reasons(path: Path) -> Mapping[Edge, str]:
    """limit of attempts met ×2 / not useful"""
    return {
        edge: " / ".join(f"{say(f'decision.{why}')}{f' ×{count}' if count > 1 else ''}" for why, count in whys.items())
        for edge, whys in path.reasons.items()
    }


def _reason(room: Box, line: float, told: str) -> str:
    """On the line down from its source, like a bead on a string: the longer it is, the nearer to the middle of its
    space.
    """
    left, right = line - room.x, room.x + room.width - line
    return (
        f'<span class="reason" style="{_place(room)}" title="{escape(told)}"><i style="flex-grow: {left:.0f}"></i>'
        f'<span>{escape(told)}</span><i style="flex-grow: {right:.0f}"></i></span>'
    )


def _place(box: Box) -> str:
    across, width = (f"{each / WIDTH:.2%}" for each in (box.x, box.width))
    return f"left: {across}; top: {box.y:.0f}px; width: {width}; height: {box.height:.0f}px"


@cache
def _base(flow: PipelineGraph) -> str:
    return _svg(flow, flow.edges, LINE)


def _mask(flow: PipelineGraph, taken: frozenset[Edge] | None) -> str:
    """`taken`: None for all edges."""
    svg = _base(flow) if taken is None else _svg(flow, [edge for edge in flow.edges if edge in taken], TAKEN)
    return f"mask-image: url(&quot;data:image/svg+xml,{svg}&quot;)"


def _svg(flow: PipelineGraph, edges: Iterable[Edge], width: float) -> str:
    layout = layout_of(flow)
    data = "".join(path_data(layout.lines[edge]) for edge in edges)
    return quote(
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {layout.height:.0f}' preserveAspectRatio='none'>"
        f"<path d='{data}' fill='none' stroke='#000' stroke-width='{width}' vector-effect='non-scaling-stroke'/></svg>"
    )

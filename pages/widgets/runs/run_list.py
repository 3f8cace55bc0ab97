"""What is chosen in the list of runs."""

from pages.widgets.controls.list_state import ListState

RUN_LIST = ListState("runs", ("q", "state", "why", "pipeline", "index", "order", "after"))
"""`q`: the words; `after`: the last run of the page before"""


def turn_to(after: str) -> None:
    RUN_LIST.choose(**{**RUN_LIST.values, "after": after})

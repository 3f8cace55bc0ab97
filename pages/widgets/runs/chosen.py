"""What is chosen in the list of runs."""

from pages.widgets.controls.chosen import Chosen

CHOSEN = Chosen("runs", ("q", "state", "why", "pipeline", "index", "order", "after"))
"""`q`: the words; `after`: the last run of the page before"""


def turn_to(after: str) -> None:
    CHOSEN.choose(**{**CHOSEN.values, "after": after})

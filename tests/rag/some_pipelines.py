"""Pipelines as values of a test in which all of them go through the same code."""

import pytest

from rag.pipelines import PIPELINES

NOW = ("naive", "self_rag_candidates", "adaptive")
"""one that only searches and answers, one that writes several answers, one with every kind of step"""


def some_of(names=tuple(PIPELINES), now=NOW):
    """Those of `now` in `make test`, the others in `make soak`."""
    return [pytest.param(name, marks=() if name in now else pytest.mark.soak) for name in names]

"""What makes a function a node or a router of a graph."""

import pytest

from rag.graph.context import GraphLimits
from rag.graph.state import State
from rag.graph.step import Choice, router


@pytest.mark.parametrize("name", ["retrieve", "before_retrieve", "never_after_retrieve", "after_"])
def test_a_router_that_is_not_named_after_its_node_is_refused(name):
    def decide(state: State, limits: GraphLimits) -> Choice:
        return Choice("generate", "found")

    decide.__name__ = name
    with pytest.raises(ValueError, match=f"{name} is not named after_<node>"):
        router(decide)

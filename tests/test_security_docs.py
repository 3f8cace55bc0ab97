"""docs/security.md names tests: each of them is there."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", (TESTS.parent / "docs/security.md").read_text("utf-8"))))


def test_it_names_tests():
    assert len(NAMED) > 50


@pytest.mark.parametrize(("file", "name"), [each for each in NAMED if not each[0].startswith("tests/")])
def test_each_test_that_is_named_exists(file, name):
    functions = [each.name for each in ast.walk(ast.parse((TESTS / file).read_text("utf-8"))) if hasattr(each, "name")]
    assert functions
    assert not name or name in functions

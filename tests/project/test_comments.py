"""What a comment above a test in `make soak` promises: the test that it names is there, and `make test` runs it."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
MODULES = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))}
NAMED = re.compile(r"\b(test_\w+)(?![\w/]|\.py)")
"""a test, or the beginning of its name, but no file"""
DEFINED = re.compile(r"^def (test_\w+)", re.MULTILINE)
SOAK = re.compile(r"(?:pytest\.mark\.)?soak\b")


def functions(module: str) -> dict[str, tuple[bool, str]]:
    """Of each test: whether only `make soak` runs it, and the comments above it and beside its decorators."""
    lines, found = module.splitlines(), {}
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min((each.lineno for each in node.decorator_list), default=node.lineno)
            while lines[first - 2].startswith("#"):
                first -= 1
            comments = " ".join(line.partition("#")[2] for line in lines[first - 1 : node.lineno])
            found[node.name] = any(map(SOAK.fullmatch, map(ast.unparse, node.decorator_list))), comments
    return found


def test_a_test_that_is_named_instead_of_another_one_is_there_and_in_make_test():
    modules = {path: functions(module) for path, module in MODULES.items() if "soak" in module}
    run = [name for tests in modules.values() for name, (is_soak, _) in tests.items() if not is_soak]
    run += [name for path, module in MODULES.items() if path not in modules for name in DEFINED.findall(module)]
    missing = [
        (path.name, name, named)
        for path, tests in modules.items()
        for name, (is_soak, comments) in tests.items()
        if is_soak
        for named in NAMED.findall(comments)
        if not any(each.startswith(named) for each in run)
    ]
    assert missing == []

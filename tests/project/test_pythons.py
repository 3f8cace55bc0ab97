"""What is different in some of the Pythons from 3.11."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AFTER_A_GROUP = re.compile(r"(?<!\()\)(?:[*+?]|\{[\d,]+\})\+")


@pytest.mark.parametrize("package", ["index_store", "rag", "pages", "benchmarks"])
def test_no_group_is_repeated_possessively_because_pythons_before_3_11_5_then_lose_matches(package):
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if (AFTER_A_GROUP.search(line) and "re.compile" in line) or re.search(r'= rf?".*\)[*+?]\+', line)
    ]
    assert lines == []

"""Every benchmark starts and prints its help. Only `make soak` tests what most of them measure."""

import runpy
import sys
from pathlib import Path

import pytest

import benchmarks

FOLDER = Path(benchmarks.__path__[0])
COMMANDS = sorted(
    {path.stem for path in FOLDER.glob("*.py") if '"__main__"' in path.read_text(encoding="utf-8")}
    | {path.parent.name for path in FOLDER.glob("*/__main__.py")}
)


@pytest.mark.parametrize("name", COMMANDS)
def test_it_says_what_it_measures_and_takes(name, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmark", "--help"])
    for loaded in [each for each in sys.modules if each.startswith(f"benchmarks.{name}")]:
        monkeypatch.delitem(sys.modules, loaded)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")

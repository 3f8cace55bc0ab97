"""Reads the Dockerfile like `docker build`, but only the syntax that our file uses: its stages and their images."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass
class Stage:
    name: str
    base: str
    """an image, or the name of an earlier stage"""
    lines: list[tuple[str, str]] = field(default_factory=list)
    """(instruction, arguments); those of an earlier stage that is the base come first"""

    def last(self, instruction: str) -> str:
        """The arguments of the last line with this instruction. Raises KeyError."""
        return dict(self.lines)[instruction]

    @property
    def environment(self) -> dict[str, str]:
        words = [word for name, rest in self.lines if name == "ENV" for word in shlex.split(rest)]
        return dict(word.split("=", 1) for word in words)

    @property
    def command(self) -> list[str]:
        return list(json.loads(self.last("CMD")))

    @property
    def health(self) -> list[str]:
        return list(json.loads(self.last("HEALTHCHECK").partition("CMD ")[2]))

    @property
    def copied(self) -> Iterator[tuple[str, str]]:
        """Pairs: a path in the repository, and its path in the image below the working folder."""
        for name, rest in self.lines:
            *sources, target = rest.split()
            if name == "COPY" and not rest.startswith("--from="):
                for source in sources:
                    yield source, f"{target}{Path(source).name}" if target.endswith("/") else target

    def make(self, folder: Path) -> Path:
        """Copies the parts of the repository that are in the image."""
        for source, target in self.copied:
            to = folder / target
            to.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, to)
            else:
                shutil.copy2(ROOT / source, to)
        return folder


def stages() -> dict[str, Stage]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    arguments: dict[str, str] = {}
    found: dict[str, Stage] = {}
    for line in re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines():
        if not line.strip():
            continue
        instruction, _, rest = line.partition(" ")
        if instruction == "ARG":
            arguments |= [rest.split("=", 1)]
        elif instruction == "FROM":
            for name, value in arguments.items():
                rest = rest.replace(f"${{{name}}}", value)
            base, _, name = rest.partition(" AS ")
            found[name] = Stage(name, base, list(found[base].lines) if base in found else [])
        else:
            found[name].lines.append((instruction, rest))
    return found

"""Reads compose.yaml like Docker Compose, but only the syntax that our file uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.cluster.dockerfile import ROOT, stages

FILE = ROOT / "compose.yaml"

_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


class Missing(Exception):
    """A required variable is not set. The text is the message for it in compose.yaml."""


@dataclass(frozen=True)
class Service:
    name: str
    command: list[str]
    environment: dict[str, str]
    """variables of the image if we build it, of .env and of the file; later ones replace earlier ones"""
    health: list[str]
    """command of the health check; empty if there is none"""
    written: dict[str, Any]
    """the service as in the file"""

    @property
    def is_ours(self) -> bool:
        """Whether it runs the image that we build."""
        return "build" in self.written


def services(env_file: Mapping[str, str], places: Mapping[str, str] | None = None) -> dict[str, Service]:
    """Services by name. `env_file`: content of .env. `places`: text in the file and the image -> its replacement.

    Raises Missing.
    """
    found = {}
    for name, written in document()["services"].items():
        read = _read(written, env_file, places or {})
        image = stages()[read["build"]["target"]] if "build" in read else None
        image_environment = _read(image.environment, {}, places or {}) if image else {}
        command = read.get("command") or (_read(image.command, {}, places or {}) if image else [])
        environment = image_environment | (dict(env_file) if "env_file" in read else {}) | read.get("environment", {})
        _, *health = read.get("healthcheck", {}).get("test", [None])
        if image and "healthcheck" not in read:
            health = _read(image.health, {}, places or {})
        found[name] = Service(name, command, environment, health, read)
    return found


def document() -> dict[str, Any]:
    return dict(yaml.safe_load(FILE.read_text(encoding="utf-8")))


def volume_of(service: Service, target: str) -> str | None:
    """The source that is mounted at `target`."""
    pairs = [volume.split(":") for volume in service.written.get("volumes", [])]
    return next((source for source, to, *_ in pairs if to == target), None)


def _read(written: Any, variables: Mapping[str, str], places: Mapping[str, str]) -> Any:
    if isinstance(written, dict):
        return {name: _read(each, variables, places) for name, each in written.items()}
    if isinstance(written, list):
        return [_read(each, variables, places) for each in written]
    if not isinstance(written, str):
        return written
    if places:  # in one pass, so that no replacement is replaced again
        written = re.sub("|".join(map(re.escape, places)), lambda found: places[found[0]], written)

    def value(found: re.Match[str]) -> str:
        name, otherwise, words = found.groups()
        if variables.get(name):
            return variables[name]
        if otherwise == "?":
            raise Missing(words)
        return words or ""

    return _VARIABLE.sub(value, written)

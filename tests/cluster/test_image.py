"""The Dockerfile, as far as it can be checked without Docker. test_topology.py runs the files that it copies."""

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from rag.models.embedded.fetch import CHAT_MODEL, models_folder
from tests.cluster.dockerfile import ROOT, Stage, stages

BUILT = ("app", "with-model")
"""stages whose images are run"""
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
IGNORED = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] not in "# "]


@pytest.fixture(params=BUILT)
def stage(request: pytest.FixtureRequest) -> Stage:
    return stages()[request.param]


def is_sent(path: str) -> bool:
    """Whether a file of the repository is sent to Docker. The last line of .dockerignore that matches decides."""
    sent = True
    for line in IGNORED:
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = Path(path).parts
        heads = ["/".join(parts[: n + 1]) for n in range(len(parts))] + (list(parts) if "**/" in line else [])
        if any(fnmatch.fnmatchcase(head, pattern) for head in heads):
            sent = line.startswith("!")
    return sent


def test_what_is_copied_is_there_and_nothing_else_is_sent_to_docker(stage):
    sources = {source for source, _ in stage.copied} | {"requirements.lock"}
    for source in sources:
        assert (ROOT / source).exists(), source
        assert is_sent(source), source
    assert {line.removeprefix("!") for line in IGNORED if line.startswith("!")} == sources
    for private in (".env", ".git/config", "data/catalogue.sqlite3", ".streamlit/secrets.toml", ".venv/bin/python"):
        assert not is_sent(private), private
    assert not is_sent("rag/__pycache__/settings.cpython-311.pyc")


def test_nothing_is_fetched_by_docker_itself_and_no_secret_is_built_in(stage):
    assert "ADD" not in dict(stage.lines)
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert not re.search(r"(?i)(?:ARG|ENV) \w*(?:key|secret|password|token)", text)
    assert not [name for name in stage.environment if re.search(r"KEY|SECRET|PASSWORD|TOKEN|URL", name)]


def test_it_does_not_run_as_root_and_what_it_writes_is_a_volume(stage):
    user, _, group = stage.last("USER").partition(":")
    assert user == group
    assert int(user) > 0  # a number, so that a cluster that refuses root can check it
    [made] = [rest for name, rest in stage.lines if name == "RUN" and "useradd" in rest]
    assert f"--uid {user} " in made
    assert "install -d -o glassbox -g glassbox -m 700 /data /chroma" in made
    assert stage.environment["DATA_DIR"] == stage.last("VOLUME") == "/data"


def test_packages_come_by_hash_from_the_lock_and_the_last_stage_has_no_tools_to_build_any(stage):
    [flags] = re.findall(r"^PIP_INSTALL := (.*)$", MAKEFILE, re.MULTILINE)
    [installs] = [rest for name, rest in stages()["packages"].lines if "pip install" in rest]
    # An image is compiled once for all its starts.
    assert {*flags.split(), "--only-binary=:all:", "requirements.lock"} - {"--no-compile"} <= {*installs.split()}
    lines = [rest for name, rest in stage.lines if name == "RUN"]
    assert not [rest for rest in lines if "pip install" in rest]
    [installed] = [re.findall(r"apt-get install (.*?) &&", rest)[0] for rest in lines if "apt-get" in rest]
    assert [word for word in installed.split() if not word.startswith("-")] == ["libgomp1"]


def test_it_starts_as_make_run_does_with_what_a_container_needs_beside(stage):
    recipe = MAKEFILE.partition("\nrun:")[2].partition("\n\n")[0]
    [fetch] = re.findall(r"@\$\(BIN\)/(python -m .*)", recipe)
    [[settings, starts]] = re.findall(r"@exec env (\S+) \$\(BIN\)/(.*)", recipe)
    [port] = re.findall(r"^PORT \?= (\d+)$", MAKEFILE, re.MULTILINE)
    assert stage.command == ["sh", "-c", f"{fetch} && exec {starts}".replace("$(PORT)", port)]
    name, _, value = settings.partition("=")
    assert stage.environment[name] == value
    assert stage.environment["STREAMLIT_SERVER_ADDRESS"] == "0.0.0.0"
    assert stage.last("EXPOSE") == port
    assert f"http://localhost:{port}/healthz" in stage.health[-1]


def test_its_python_is_one_that_the_project_is_tested_with():
    [version] = set(re.findall(r"python:([\d.]+)-slim", " ".join(each.base for each in stages().values())))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least = project["requires-python"].removeprefix(">=")
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert version in ci["jobs"]["test"]["strategy"]["matrix"]["python"]


def test_the_model_is_baked_in_where_the_app_is_told_to_look_for_it():
    baked = stages()["with-model"]
    [fetches] = [rest for name, rest in baked.lines if name == "RUN" and "embedded.fetch" in rest]
    folder = re.findall(r"DATA_DIR=(\S+)", fetches)[0]
    assert baked.environment["EMBEDDED_MODEL"] == str(models_folder(Path(folder)) / CHAT_MODEL.name)
    assert "EMBEDDED_MODEL" not in stages()["app"].environment
    assert list(stages())[-1] == "app"  # the last stage is built if no target is given


def test_the_page_for_operators_starts_it_as_it_is_built(stage):
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8").replace("\\\n", "")
    [build] = re.findall(r"^docker build (.*)$", page, re.MULTILINE)
    [run] = re.findall(r"^docker run (.*)$", page, re.MULTILINE)
    [image] = re.findall(r"-t (\S+)", build)
    assert f"docker build {build}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert run.split()[-1] == image
    port = stage.last("EXPOSE")
    assert f"--publish 127.0.0.1:{port}:{port}" in run
    assert f"--volume glassbox-data:{stage.last('VOLUME')}" in run
    # The app refuses to listen for other machines, as it does in a container, without AUTH or this.
    assert "--env ALLOW_ANONYMOUS=true" in run

"""compose.yaml: it has the same services as the cluster of the tests, and only Caddy is reachable from outside."""

import os
import re
import subprocess
import sys
from ipaddress import ip_address, ip_network

import pytest

from pages.server.settings import ServerSettings
from rag.settings import Settings
from tests.cluster import compose
from tests.cluster.dockerfile import ROOT
from tests.cluster.topology import CADDYFILE, Topology
from tests.servers.chroma import ChromaServer
from tests.servers.loopback import Connection, Fault, LoopbackServer, Refusal, Request
from tests.servers.ports import free_port
from tests.servers.postgres import USER, PostgresServer

ENV_FILE = {
    "POSTGRES_PASSWORD": "made-up",
    "COOKIE_SECRET": "made-up-" * 4,
    "APP_URL": "https://rag.example.com",
    "AUTH": "header",
    "CADDY_TLS": "internal",
}
"""the variables that an operator must set"""
APPS = ["app-1", "app-2"]
OURS = [*APPS, "worker"]
OTHERS = {"PGPASSWORD"}
"""variables of our services that are not settings: libraries read them"""


@pytest.fixture
def services() -> dict[str, compose.Service]:
    return compose.services(ENV_FILE)


def test_it_has_the_parts_of_the_topology_that_is_started(services):
    assert sorted(services) == sorted([*OURS, "postgres", "chroma", "caddy"])
    assert services["app-1"].written == services["app-2"].written
    assert services["worker"].command == ["python", "-m", "index_store", "worker"]
    assert services["worker"].written["deploy"]["replicas"] == "2"


def test_the_number_of_workers_is_a_setting_so_that_it_lasts():
    """A number that was given to `--scale` is undone by the next `up`."""
    services = compose.services({**ENV_FILE, "WORKER_REPLICAS": "4"})
    assert services["worker"].written["deploy"]["replicas"] == "4"


def test_postgres_and_chroma_are_started_as_those_of_the_tests(
    topology: Topology, postgres: PostgresServer, chroma: ChromaServer
):
    _, *arguments = chroma.command
    assert topology.services["chroma"].command == ["chroma", *arguments]
    told = topology.services["postgres"].environment
    assert told["POSTGRES_USER"] == USER
    assert told["POSTGRES_INITDB_ARGS"] == "--encoding=UTF8 --locale=C.UTF-8"
    assert postgres.run("SHOW server_encoding") == [("UTF8",)]
    assert postgres.run("SELECT datcollate FROM pg_database WHERE datname = 'template1'") == [("C.UTF-8",)]


@pytest.mark.parametrize("name", ENV_FILE)
def test_without_what_only_the_operator_knows_nothing_starts_and_a_sentence_says_what_to_set(name):
    with pytest.raises(compose.Missing, match=rf"^Set {name} in \.env"):
        compose.services({each: value for each, value in ENV_FILE.items() if each != name})


def test_it_has_no_secret_of_its_own():
    defaults = re.findall(r"\$\{(\w+):-(.*?)\}", compose.FILE.read_text(encoding="utf-8"))
    assert dict(defaults) == {"BUILD_TARGET": "app", "CERTS": "certs", "WORKER_REPLICAS": "2"}


def test_apps_and_workers_have_the_settings_of_env_and_over_them_those_of_this_form(services):
    known = {name.upper() for name in Settings.model_fields | ServerSettings.model_fields} | OTHERS
    for name in OURS:
        service = services[name]
        assert service.written["env_file"] == [".env"]
        assert set(service.written["environment"]) <= known
        settings = Settings(_env_file=None, **{key.lower(): value for key, value in service.environment.items()})
        assert settings.has_queue
        assert settings.workers == "elsewhere"
        assert compose.volume_of(service, str(settings.data_dir)) == "data"
    for service in services.values():
        if service.is_ours:
            assert service.written["read_only"]
            assert service.written["tmpfs"] == ["/tmp"]
            assert service.written["cap_drop"] == ["ALL"]


def test_only_caddy_is_reachable_from_outside_and_only_our_processes_reach_the_databases(services):
    networks = compose.document()["networks"]
    assert [name for name, each in services.items() if "ports" in each.written] == ["caddy"]
    assert networks["inside"]["internal"] is True
    for name in ("postgres", "chroma"):
        assert services[name].written["networks"] == ["inside"]
    assert sorted(name for name, each in services.items() if "inside" in each.written["networks"]) == sorted(
        [*OURS, "postgres", "chroma"]
    )
    assert list(services["caddy"].written["networks"]) == ["edge"]


def test_the_apps_believe_caddy_and_nobody_else_can_be_given_its_address(services):
    address = services["caddy"].written["networks"]["edge"]["ipv4_address"]
    [pool] = compose.document()["networks"]["edge"]["ipam"]["config"]
    assert ip_address(address) in ip_network(pool["subnet"])
    assert ip_address(address) not in ip_network(pool["ip_range"])
    for app in APPS:
        assert ServerSettings(_env_file=None, trusted_proxies=services[app].environment["TRUSTED_PROXIES"]).proxies == (
            ip_network(address),
        )


def test_caddy_has_its_file_and_knows_each_app(services):
    assert compose.volume_of(services["caddy"], "/etc/caddy/Caddyfile") == f"./{CADDYFILE}"
    text = (ROOT / CADDYFILE).read_text(encoding="utf-8")
    assert re.findall(r"reverse_proxy (.*) \{", text) == [" ".join(f"{app}:8501" for app in APPS)]
    assert set(re.findall(r"\{\$(\w+)\}", text)) == set(services["caddy"].environment)


@pytest.mark.parametrize("address", ["https://rag.example.com", "https://rag.example.com/"])
def test_caddy_serves_every_path_also_of_an_address_that_was_copied_with_its_slash(services, tmp_path, address):
    program = tmp_path / "caddy"
    program.write_text('#!/bin/sh\necho "$APP_URL $*"\n')
    program.chmod(0o700)
    command = [part.replace("$$", "$") for part in services["caddy"].command]
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "APP_URL": address}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == [
        "https://rag.example.com", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "port", "path"), [("app-1", 8501, "/healthz"), ("chroma", 8000, "/api/v2/heartbeat")])
def test_a_health_check_asks_its_own_container_although_there_is_a_proxy_for_outside(name, port, path):
    asked = []

    class Healthy(LoopbackServer):
        def respond(self, request: Request, connection: Connection, trouble: Fault | Refusal | None) -> None:
            asked.append(request.path)
            connection.send_json(200, {})

    nobody = f"http://127.0.0.1:{free_port()}"
    with Healthy() as server:
        own = {f"localhost:{port}": server.url.removeprefix("http://")}
        python, *arguments = compose.services(ENV_FILE, own)[name].health
        assert python == "python"
        told = subprocess.run(
            [sys.executable, *arguments], env={"PATH": os.environ["PATH"], "HTTP_PROXY": nobody, "http_proxy": nobody}
        )
    assert (told.returncode, asked) == (0, [path])


def test_who_needs_a_server_waits_until_it_is_there_and_for_nothing_else(services):
    for name in OURS:
        waits_for = services[name].written["depends_on"]
        assert waits_for == {key: {"condition": "service_healthy"} for key in ("postgres", "chroma")}
        for server in waits_for:
            assert services[server].health
    # Nothing waits for an app, since any app may be down. A service that starts too early is restarted.
    assert all(service.written["restart"] == "unless-stopped" for service in services.values())


GROWING = (ROOT / "docs" / "growing.md").read_text(encoding="utf-8")


def test_the_commands_that_restore_wait_for_the_database_and_restore_all_of_it_or_nothing():
    _, _, restoring = GROWING.partition("To restore on a new machine")
    before, pg_restore, after = restoring.partition("pg_restore")
    assert "docker compose up --detach --wait postgres`" in before
    assert pg_restore
    assert "--single-transaction" in after.split("`")[0]


def test_an_upgrade_replaces_each_service_of_our_image_by_its_own_line_and_no_other(services):
    _, _, upgrading = GROWING.partition("\n## Upgrade\n")
    replaced = re.findall(r"^docker compose up --detach (.*?) *(?:#.*)?$", upgrading, re.MULTILINE)
    assert sorted(replaced) == sorted(f"--no-deps {name}" for name, each in services.items() if each.is_ours)


def test_the_page_names_the_time_zone_in_which_a_day_begins_and_all_apps_and_workers_have_that_of_env():
    _, _, starting = GROWING.partition("\n## Start it\n")
    [zone] = re.findall(r"^TZ=(\S+)", starting, re.MULTILINE)
    services = compose.services(ENV_FILE | {"TZ": zone})
    assert {services[name].environment["TZ"] for name in OURS} == {zone}

"""Starts the services of compose.yaml as real processes on loopback, with its commands and settings.

They are Debian's Postgres, Chroma's server, our own processes in a folder with the files of the image, and Caddy with
our Caddyfile.
"""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from tests.cluster import compose
from tests.cluster.dockerfile import ROOT, stages
from tests.servers.certified import NAME, CertifiedHost
from tests.servers.chroma import ChromaServer
from tests.servers.ports import free_port
from tests.servers.postgres import PASSWORD, PostgresServer

CADDYFILE = "docs/operating/replicas.Caddyfile"
PROXIES = ROOT / ".venv" / "proxies" / "usr" / "bin"
"""where `make proxies` puts Caddy"""
POLICY = "lb_policy cookie replica"
PATIENCE = 180
"""seconds for a process to start or to end"""

ALONE = """{
    admin off
    auto_https disable_redirects
    default_bind 127.0.0.1
}
"""
"""start of a Caddyfile on a machine with other servers"""

MIGRATIONS = "rag/runs/history/migrations"
NEWER = """from alembic import op

revision = "9999"
down_revision = "{last}"


def upgrade() -> None:
    op.execute("CREATE TABLE newer (id integer)")
"""

Replica = tuple[str, int]
"""a service and the number of its process, from 1"""


@dataclass(frozen=True)
class Command:
    """A command that was started for a service."""

    process: subprocess.Popen[bytes]
    _file: Path

    @property
    def said(self) -> str:
        return self._file.read_text(encoding="utf-8")


class Topology:
    """A context manager. At first, only Postgres and Chroma run, which others use too. At the end, it ends all that it
    has started. `env_file`: the operator's .env in addition to the variables that compose.yaml requires.
    """

    def __init__(self, folder: Path, postgres: PostgresServer, chroma: ChromaServer, **env_file: str) -> None:
        self._folder = folder
        self._owned = ExitStack()
        self.policy = POLICY
        """how Caddy chooses an app"""
        self._commands = itertools.count(1)
        self._processes: dict[Replica, subprocess.Popen[bytes]] = {}
        self._postgres = postgres
        self._database = postgres.new_database()
        self._owned.callback(postgres.drop, self._database)
        self._ports = {name: free_port() for name in ("app-1", "app-2", "caddy")}
        self.host = CertifiedHost(folder)
        operator = {
            "POSTGRES_PASSWORD": PASSWORD,
            "COOKIE_SECRET": "not-a-secret-58ba" * 2,
            "APP_URL": self.url,
            "CADDY_TLS": f"{self.host.certificate} {self.host.key}",
            **env_file,
        }
        self._image = stages()["app"].make(folder / "image")
        self._newer: set[str] = set()
        """services with a newer version"""
        (folder / "data").mkdir(mode=0o700)
        names = compose.services(operator)
        self.services = {name: compose.services(operator, self._places(name, chroma))[name] for name in names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            for service, number in self.running:
                self.kill(service, number)
        finally:
            self._owned.close()

    @property
    def url(self) -> str:
        return f"https://{NAME}:{self._ports['caddy']}"

    @property
    def data(self) -> Path:
        return self._folder / "data"

    def start(self, service: str, number: int = 1) -> None:
        """Does not wait until it is well, see `is_well`."""
        if service == "caddy":
            self._run(service, number, self._caddy())
        else:
            self._run(service, number, self.services[service].command)

    def upgrade(self, service: str) -> None:
        """From its next start, the service is a version with one more table."""
        self._newer.add(service)
        newer = self._newer_image
        if not newer.exists():
            shutil.copytree(self._image, newer)
            migrations = newer / MIGRATIONS
            last = max(file.stem[:4] for file in migrations.glob("[0-9]*.py"))
            (migrations / "9999_newer.py").write_text(NEWER.format(last=last), encoding="utf-8")

    @property
    def _newer_image(self) -> Path:
        return self._folder / "newer"

    def _image_of(self, service: str) -> Path:
        return self._newer_image if service in self._newer else self._image

    def address(self, app: str) -> str:
        """Its own address on this machine, without Caddy."""
        return f"http://localhost:{self._ports[app]}"

    def is_well(self, service: str) -> bool:
        """The result of its health check."""
        told = subprocess.run(self.services[service].health, env=self._environment(service), capture_output=True)
        return told.returncode == 0

    def is_ready(self, app: str) -> bool:
        """Whether it can serve people; Caddy asks in the same way."""
        try:
            with urllib.request.urlopen(f"{self.address(app)}/readyz", timeout=PATIENCE) as answer:
                return answer.status == 200
        except OSError:
            return False

    def ask(self, service: str, *command: str) -> str:
        """Runs a command in the service's container and returns its output. Raises CalledProcessError."""
        told = subprocess.run(
            command, cwd=self._image_of(service), env=self._environment(service), capture_output=True, check=True
        )
        return told.stdout.decode()

    def begin(self, service: str, *command: str) -> "Command":
        """Starts the command and does not wait for its end."""
        file = self._folder / f"command-{next(self._commands)}.log"
        with file.open("wb") as out:
            process = subprocess.Popen(
                command,
                cwd=self._image_of(service),
                env=self._environment(service),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self._owned.callback(process.wait)
        self._owned.callback(process.kill)
        return Command(process, file)

    def query(self, statement: str) -> list[tuple[object, ...]]:
        """The database's answer."""
        return self._postgres.run(statement, self._database.partition("?")[0].rpartition("/")[2])

    @property
    def running(self) -> list[Replica]:
        return list(self._processes)

    def log(self, service: str, number: int = 1) -> str:
        return self._log(service, number).read_text(encoding="utf-8")

    def end(self, service: str, number: int = 1, by: int = signal.SIGTERM) -> int:
        """Returns its exit status."""
        process = self._processes.pop((service, number))
        process.send_signal(by)
        return process.wait(PATIENCE)

    def kill(self, service: str, number: int = 1) -> None:
        """Like `kill -9`, whatever it is doing."""
        self.end(service, number, signal.SIGKILL)

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of Caddy's answer."""
        answer = self.host.get(self._ports["caddy"], path, timeout=PATIENCE)
        return answer.status, answer.text

    def _places(self, service: str, chroma: ChromaServer) -> dict[str, str]:
        """Texts for containers -> their replacements on loopback."""
        _, _, database = self._database.partition("@")
        folder, port = str(chroma.folder / "data"), chroma.url.rpartition(":")[2]
        places = {
            "glassbox@postgres/glassbox": f"glassbox@{database}",
            "http://chroma:8000": chroma.url,
            "localhost:8000": f"localhost:{port}",
            "0.0.0.0": "127.0.0.1",
            "172.31.250.2": "127.0.0.1",
            "8501": str(self._ports.get(service, 0)),
        }
        if service == "chroma":
            return {**places, "/chroma": folder, "8000": port}
        return {**places, "/data": str(self.data)}

    def _caddy(self) -> list[str]:
        text = (ROOT / CADDYFILE).read_text(encoding="utf-8")
        assert POLICY in text
        text = text.replace(POLICY, self.policy)
        for app in ("app-1", "app-2"):
            assert f" {app}:8501" in text
            text = text.replace(f"{app}:8501", f"127.0.0.1:{self._ports[app]}")
        file = self._folder / "Caddyfile"
        file.write_text(ALONE + text, encoding="utf-8")
        program = shutil.which("caddy", path=os.pathsep.join([str(PROXIES), os.environ["PATH"]]))
        if not program:
            pytest.skip("there is no Caddy (`make proxies` fetches it on Debian and Ubuntu)")
        return [program, "run", "--config", str(file), "--adapter", "caddyfile"]

    def _environment(self, service: str) -> dict[str, str]:
        """As in a container: from the image, .env and the file, and nothing of this machine except the
        path of Python.
        """
        around = ("OMP_NUM_THREADS", "SSL_CERT_FILE", "NO_PROXY", "no_proxy")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        machine = {name: os.environ[name] for name in around if name in os.environ}
        return machine | self.services[service].environment | {"PATH": path, "HOME": str(self._folder)}

    def _run(self, service: str, number: int, command: list[str]) -> None:
        with self._log(service, number).open("ab") as log:
            self._processes[service, number] = subprocess.Popen(
                command, cwd=self._image_of(service), env=self._environment(service), stdout=log, stderr=log
            )

    def _log(self, service: str, number: int) -> Path:
        return self._folder / f"{service}-{number}.log"

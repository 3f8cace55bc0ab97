"""A Postgres server of Debian's package, in its own folder, reached only by a socket in that folder.

If root runs the tests, it is started as the user nobody, because Postgres refuses root.
"""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

import psycopg

ROOT = Path(__file__).parent.parent.parent
UNPACKED = ROOT / ".venv" / "postgres"
"""where `make postgres` unpacks it"""

USER = "glassbox"
PASSWORD = "not-a-secret-3c1f"


def programs() -> Path | None:
    """The folder of initdb and postgres, installed or unpacked; None if there are none that run."""
    for root in (Path("/"), UNPACKED):
        found = sorted(root.glob("usr/lib/postgresql/*/bin/postgres"), key=lambda each: int(each.parts[-3]))
        if found and not subprocess.run([found[-1], "--version"], capture_output=True, env=_environment()).returncode:
            return found[-1].parent
    return None


def _environment() -> dict[str, str]:
    libraries = ":".join(map(str, UNPACKED.glob("usr/lib/*-linux-gnu")))
    return {**os.environ, "LD_LIBRARY_PATH": libraries, "LC_ALL": "C.UTF-8", "PGTZ": "UTC"}


class PostgresServer:
    """A context manager. A crash of the machine may lose committed data, which is only data of tests."""

    def __init__(self, folder: Path | None = None, **settings: str) -> None:
        """`folder`: stays, and may already have content. Without it, a temporary folder is used and removed.
        `settings`: the server's own.
        """
        found = programs()
        if found is None:
            raise FileNotFoundError("no Postgres: `make postgres` unpacks it where there is Debian's apt-get")
        self._programs = found
        self._made = itertools.count(1)
        self._is_kept = folder is not None
        self._folder = folder or Path(tempfile.mkdtemp(prefix="postgres-"))
        self._settings = {
            "listen_addresses": "", "unix_socket_directories": str(self._folder), "fsync": "off",
            "full_page_writes": "off", "max_connections": "200", "shared_buffers": "64MB", **settings,
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if not self._data.exists():
            self._make()
        self.start()
        return self

    def _make(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self._folder, "nobody", "nogroup")
        password = self._folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        initdb = ["initdb", "-D", str(self._data), "-U", USER, "--pwfile", str(password), "-A", "scram-sha-256"]
        initdb += ["--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run(self._command(initdb), check=True, capture_output=True, env=_environment(), cwd="/")

    def __exit__(self, *_: object) -> None:
        if self._is_kept:
            self.end()
        else:
            self.stop()
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process and self._process.pid

    def start(self) -> None:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        command = self._command(["postgres", "-D", str(self._data), *options])
        deadline = time.monotonic() + 60
        while True:
            # Starts again if it has ended: for a moment after a kill, some of the killed processes still run.
            if self._process is None or self._process.poll() is not None:
                with (self._folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(command, stdout=log, stderr=log, env=_environment(), cwd="/")
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """Stops immediately, even with open connections."""
        self._send(signal.SIGQUIT)

    def end(self) -> None:
        """Writes all committed data into its files first, so that its next start is fast."""
        self._send(signal.SIGINT)

    def _send(self, by: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(by)
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        """Like `kill -9`, whatever it is doing."""
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None

    def new_database(self) -> str:
        """URL of an empty database."""
        name = f"database_{next(self._made)}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def drop(self, url: str) -> None:
        name = url.partition("?")[0].rpartition("/")[2]
        self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://{USER}:{PASSWORD}@/{name}?host={self._folder}"

    def run(self, statement: str, name: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(name).replace("+psycopg", ""), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _command(self, command: list[str]) -> list[str]:
        as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        return [*as_nobody, str(self._programs / command[0]), *command[1:]]

"""The server in another process: `streamlit run app.py`, or `served.py` if several tests use one process in turn."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pages.server.settings import ServerSettings
from rag.settings import Settings
from tests.servers.ports import free_port

ROOT = Path(__file__).parent.parent.parent
START_TIMEOUT = 120
"""seconds"""


class App:
    """It runs while it is the context, or from `start` to `stop`."""

    def __init__(self, folder: Path, script: str = "app.py", under: Sequence[str] = (), **settings: str) -> None:
        """`under`: a command that runs the command after it, in a process with the same id.

        `settings`: for the environment, with the names in .env.example; all others have their defaults.
        """
        self._script = script
        self._under = under
        self.port = free_port()
        self.log = folder / "app.log"
        # Every setting is set, so that a developer's own .env in the repository has no effect.
        defaults = {
            name.upper(): str(field.default)
            for name, field in (Settings.model_fields | ServerSettings.model_fields).items()
            if field.default is not None
        }
        self._environment = os.environ | defaults | {"DATA_DIR": str(folder / "data")} | settings
        self._process: subprocess.Popen | None = None

    def set(self, **settings: str) -> None:
        """Settings for the next start."""
        self._environment |= settings

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process and self._process.pid

    def start(self) -> None:
        command = [
            *self._under,
            sys.executable,
            "-m",
            "streamlit",
            "run",
            self._script,
            "--server.port",
            str(self.port),
        ]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=log, stderr=log)
        end = time.monotonic() + START_TIMEOUT
        while not self._answers():
            assert self._process.poll() is None, self.log.read_text(encoding="utf-8")
            assert time.monotonic() < end, self.log.read_text(encoding="utf-8")
            time.sleep(0.1)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def renew(self, **settings: str) -> None:
        """Opens a new engine with these settings; only for `served.py`."""
        self._environment |= settings
        body = json.dumps(settings).encode()
        with urllib.request.urlopen(f"{self.url}/renew", data=body, timeout=START_TIMEOUT) as response:
            assert response.read() == b"renewed"

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(timeout=60)
            self._process = None

    def kill(self) -> None:
        """Kills it, whatever it is doing."""
        if self._process:
            self._process.kill()
            self._process.wait(timeout=60)
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=10) as response:
                return response.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

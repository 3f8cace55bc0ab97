"""A certified OpenID provider in another process (Node.js), as `make provider` installs it."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Self

import pytest

from tests.servers.ports import free_port

PACKAGES = Path(__file__).parents[3] / ".venv/provider"
CLIENT = "glassbox"
CLIENT_SECRET = "secret-of-the-client-at-the-provider"


class OpenIdProvider:
    """`callback`: the app's address to which it sends browsers back. `people`: claims by subject.

    `clock`: seconds by which its clock is ahead. `poses_as`: an issuer name to use instead of its own. It keeps its
    port when it is stopped and started again.
    """

    def __init__(
        self, callback: str, people: dict[str, dict[str, Any]], clock: float = 0, poses_as: str | None = None
    ) -> None:
        self._node = shutil.which("node")
        if not self._node or not (PACKAGES / "node_modules/oidc-provider").is_dir():
            pytest.skip("there is no OpenID provider (`make provider` installs it)")
        client = {
            "client_id": CLIENT,
            "client_secret": CLIENT_SECRET,
            "redirect_uris": [callback],
            "post_logout_redirect_uris": [callback],
            "token_endpoint_auth_method": "client_secret_basic",
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
        }
        self._told = {"clients": [client], "people": people, "clock": clock, "port": free_port(), "issuer": poses_as}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._told['port']}"

    def settings(self, name: str = "Example", **more: str) -> dict[str, str]:
        """As an entry of OIDC_PROVIDERS."""
        scope = "openid email profile groups"
        return {
            "name": name, "issuer": self.issuer, "client_id": CLIENT, "client_secret": CLIENT_SECRET, "scope": scope,
        } | more  # fmt: skip

    def start(self) -> None:
        command = [self._node, str(Path(__file__).with_name("server.mjs"))]
        environment = os.environ | {"PACKAGES": str(PACKAGES / "package.json"), "NODE_NO_WARNINGS": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self._process = subprocess.Popen(command, env=environment, **pipes)
        self._process.stdin.write(json.dumps(self._told))
        self._process.stdin.close()
        self._told["port"] = int(self._process.stdout.readline())

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(timeout=60)
            self._process.stdout.close()
            self._process = None

    def hang(self) -> None:
        """It accepts connections and sends nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

"""A host name that means this machine, with a certificate that the clients of a test trust."""

import base64
import hashlib
import socket
import ssl
from contextlib import closing
from http.client import HTTPMessage, HTTPSConnection
from pathlib import Path
from typing import NamedTuple

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NAME = "rag.example.com"


class Answer(NamedTuple):
    status: int
    headers: HTTPMessage
    text: str


class CertifiedHost:
    def __init__(self, folder: Path) -> None:
        """`folder`: where the files for a server are written."""
        self.certificate, self.key = folder / "certificate.pem", folder / "key.pem"
        self._authority = trustme.CA()
        issued = self._authority.issue_cert(NAME)
        issued.cert_chain_pems[0].write_to_path(str(self.certificate))
        issued.private_key_pem.write_to_path(str(self.key))

    @property
    def browser_arguments(self) -> list[str]:
        """With them, Chromium trusts the certificate. A context that ignores all errors of certificates instead
        restarts a request at each such error, and gives it up after some (ERR_TOO_MANY_RETRIES).
        """
        key = x509.load_pem_x509_certificate(self.certificate.read_bytes()).public_key()
        digest = hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
        trusted = base64.b64encode(digest).decode()
        return [f"--host-resolver-rules=MAP {NAME} 127.0.0.1", f"--ignore-certificate-errors-spki-list={trusted}"]

    def get(self, port: int, path: str, headers: dict[str, str] | None = None, timeout: float = 60) -> Answer:
        """`timeout`: seconds for each step."""
        trusting = ssl.create_default_context()
        self._authority.configure_trust(trusting)
        # http.client would look up the name, so it gets a connection that is already open.
        raw = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        with closing(HTTPSConnection(NAME, port, timeout=timeout)) as connection:
            connection.sock = trusting.wrap_socket(raw, server_hostname=NAME)
            connection.request("GET", path, headers=headers or {})
            with connection.getresponse() as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())

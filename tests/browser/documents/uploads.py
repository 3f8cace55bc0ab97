"""Uploads by a script of the page, and how much of all uploads is in memory."""

import urllib.request

from tests.browser.app_process import App

SEND = """async ([method, url, token, megabytes]) => {
    const body = method === "PUT" ? new FormData() : undefined;
    body?.append("file", new Blob([new Uint8Array(megabytes * 1024 * 1024)]), "made-up.txt");
    return (await fetch(url, {method, body, headers: {"X-Xsrftoken": token}})).status;
}"""


def held(app: App) -> int:
    """Bytes of uploads in the server's memory."""
    with urllib.request.urlopen(f"{app.url}/held", timeout=60) as answer:
        return int(answer.read())

"""An upload by a script of the page."""

SEND = """async ([method, url, token, megabytes]) => {
    const body = method === "PUT" ? new FormData() : undefined;
    body?.append("file", new Blob([new Uint8Array(megabytes * 1024 * 1024)]), "made-up.txt");
    return (await fetch(url, {method, body, headers: {"X-Xsrftoken": token}})).status;
}"""

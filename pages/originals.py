"""`GET /originals/{document_id}`: a document as it came, for whoever wants to see it where it was written.

What people upload is not trusted: of the kinds that a browser opens, none can run a script here. HTML is sandboxed to
an origin of its own and loads nothing; every other kind is sent as exactly the type that it is, or to be saved.
"""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from index_store.base.errors import OriginalMissing, PlainError, UnknownDocument
from index_store.library.originals import Original
from pages.charset import charset_of
from pages.process import engine

OFFICE = "application/vnd.openxmlformats-officedocument"
SHOWN = {"pdf": "application/pdf", "html": "text/html", "txt": "text/plain", "md": "text/plain", "csv": "text/plain"}
"""kind -> the type as which a browser shows it"""
SAVED = {
    "docx": f"{OFFICE}.wordprocessingml.document",
    "pptx": f"{OFFICE}.presentationml.presentation",
    "xlsx": f"{OFFICE}.spreadsheetml.sheet",
    "epub": "application/epub+zip",
    "eml": "message/rfc822",
    "rtf": "application/rtf",
}
"""kind -> the type of a file that is to be saved"""

# A PDF viewer doesn't work in a sandbox; a PDF has no access to the page that it is shown in.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SANDBOX = f"sandbox; {POLICY}"


async def original(request: Request) -> Response:
    document_id = request.path_params["document_id"]
    try:
        # The store works with files and SQL, and must not hold up the server.
        found = await run_in_threadpool(lambda: engine().store.original(document_id))
        return await run_in_threadpool(_response, found)
    except PlainError as error:
        status = 404 if isinstance(error, (UnknownDocument, OriginalMissing)) else 503
        return PlainTextResponse(error.sentence(_language(request)), status)


def _response(original: Original) -> Response:
    shown = SHOWN.get(original.kind)
    media_type = shown or SAVED.get(original.kind, "application/octet-stream")
    if media_type.startswith("text/"):
        charset = charset_of(original.path, original.name, original.charset)
        media_type = f"{media_type}; charset={charset}" if charset else media_type
    headers = {
        # As a header, since Starlette would add a charset of its own to a media type.
        "Content-Type": media_type,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": POLICY if media_type == SHOWN["pdf"] else SANDBOX,
    }
    return FileResponse(
        original.path,
        headers=headers,
        filename=original.name,
        stat_result=original.path.stat(),
        content_disposition_type="inline" if shown else "attachment",
    )


def _language(request: Request) -> str:
    return "ja" if request.headers.get("accept-language", "").startswith("ja") else "en"

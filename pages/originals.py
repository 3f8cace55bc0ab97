"""`GET /originals/{document_id}`: a document as it came, for whoever wants to see it where it was written.

What people upload is not trusted: of the kinds that a browser opens, none can run a script here. HTML is sandboxed to
an origin of its own and loads nothing; every other kind is sent as exactly the type that it is, or to be saved.
"""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from index_store.base.errors import OriginalMissing, PlainError, UnknownDocument
from index_store.library.originals import Original
from index_store.parsing.loaders.formats import ANY_BYTES, BY_KIND
from pages.charset import charset_of
from pages.process import engine

PDF = BY_KIND["pdf"].shown_as

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
    record = BY_KIND.get(original.kind)
    media_type = record.served_as if record else ANY_BYTES
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
        "Content-Security-Policy": POLICY if media_type == PDF else SANDBOX,
    }
    return FileResponse(
        original.path,
        headers=headers,
        filename=original.name,
        stat_result=original.path.stat(),
        content_disposition_type="inline" if record and record.shown_as else "attachment",
    )


def _language(request: Request) -> str:
    return "ja" if request.headers.get("accept-language", "").startswith("ja") else "en"

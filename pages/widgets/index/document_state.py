"""The state of a document, as a coloured label names it."""

from index_store.catalogue.records import Document, DocumentStatus

COLOURS = {
    "ready": "#15803d",
    "partial": "#4d7c0f",
    "pending": "#a16207",
    "failed": "#b91c1c",
    "outdated": "#b45309",
}


def status_of(document: Document) -> str:
    """The name of its coloured label. Outdated: a newer version failed, and the previous one is still searched.
    Partial: some of its pages have no text.
    """
    if document.status != DocumentStatus.READY:
        return document.status
    return "outdated" if document.error else "partial" if document.pages_without_text else document.status

"""What is chosen in the table of documents: the index, and filters, which are those of this index."""

from pages.widgets.controls.list_state import ListState

DOCUMENT_LIST = ListState("documents", ("index", "q", "status", "kind", "origin"))
"""`q`: the words; `origin`: the site or archive that brought a document"""

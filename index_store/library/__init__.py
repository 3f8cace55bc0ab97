"""Catalogue, vectors and originals together (library.py), and new versions of documents (versions.py)."""

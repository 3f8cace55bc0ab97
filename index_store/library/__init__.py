"""Catalogue, vectors and originals as one (library.py), and how a version of a document comes into it (versions.py)."""

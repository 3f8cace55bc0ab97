"""Vectors: embeds texts (embeddings.py) and finds the nearest vectors in Chroma (chroma.py)."""

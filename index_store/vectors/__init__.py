"""Vectors: embeds texts (embeddings.py), and finds the nearest ones in Chroma (chroma.py)."""

"""Vectors: texts to vectors (embeddings.py), and the nearest of those that Chroma keeps (chroma.py)."""

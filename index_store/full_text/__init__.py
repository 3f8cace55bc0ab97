"""Full text: turns Japanese and English into terms (analysis.py) and ranks chunks by them with BM25 (bm25.py)."""

"""Full text: Japanese and English to terms (analysis.py), and chunks ranked by BM25 over them (bm25.py)."""

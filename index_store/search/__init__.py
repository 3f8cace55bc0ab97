"""Search by vector, by keyword, or by both (searcher.py); its results are hits (hits.py)."""

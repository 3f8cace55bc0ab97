"""Search by vector, by keyword, or by both (searcher.py); what it gives are hits (hits.py)."""

"""A store for one person (user_store.py), their jobs (user_ingestion.py), and the life of an index (lifecycle.py)."""

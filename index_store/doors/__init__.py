"""A store as one person has it (user_store.py), its jobs (user_ingestion.py), and how an index lives (lifecycle.py)."""

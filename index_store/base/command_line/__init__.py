"""What the commands of `python -m index_store` and `python -m rag` share. Imports nothing that takes long."""

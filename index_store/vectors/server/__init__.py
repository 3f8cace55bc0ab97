"""A Chroma server at the address in CHROMA_URL: server.py, which uses connections.py."""

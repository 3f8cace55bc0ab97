"""A Chroma server, at the address that CHROMA_URL names: server.py, which speaks to it through connections.py."""

"""The server in front of the pages: who may connect, proxies, headers for browsers, the engine; other routes."""

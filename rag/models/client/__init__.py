"""One HTTP client for all chat models, and what services do differently. Entry point: `client.py`."""

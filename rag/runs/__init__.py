"""Runs: from a question on the page to a stored run. Entry point: `engine.Engine`."""

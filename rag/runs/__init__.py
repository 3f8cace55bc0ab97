"""A question from the page to its stored run. Entry point: `engine.Engine`."""

"""How an answer is made. Entry point: `runs.engine.Engine`; docs/architecture.md has a map of the packages."""

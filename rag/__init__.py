"""How answers are made. Entry point: `runs.engine.Engine`; docs/architecture.md has a map of the packages."""

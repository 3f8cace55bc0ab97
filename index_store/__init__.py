"""How documents are stored and found. Entry point: `store.IndexStore`; docs/architecture.md has a map of packages."""

"""How documents are kept and found. Entry point: `store.IndexStore`; docs/architecture.md has a map of the packages."""

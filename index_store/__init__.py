"""How documents are kept and found. The door is `store.IndexStore`; docs/architecture.md has a map of the packages."""

"""How documents are kept and found. Entry point: `store.index_store.IndexStore`; map: docs/architecture.md."""

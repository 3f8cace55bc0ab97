"""Pages for admins only."""

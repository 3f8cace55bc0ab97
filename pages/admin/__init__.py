"""Pages for admins alone."""

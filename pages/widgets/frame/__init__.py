"""What stands around every page: its language, the sidebar on a phone, signing in."""

"""What stands around every page: its language, signing in, and what is wrong with the app."""

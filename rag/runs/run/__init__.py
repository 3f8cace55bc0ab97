"""One run: its events as they come, how and in whose name it is asked, and what it adds up to."""

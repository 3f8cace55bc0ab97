"""One run: its events, its options, the person who asked, and its summary."""

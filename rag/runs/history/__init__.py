"""What is kept of conversations and runs, in SQL. Entry point: `history.History`."""

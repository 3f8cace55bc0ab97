"""The stored conversations and runs, in SQL. Entry point: `history.History`."""

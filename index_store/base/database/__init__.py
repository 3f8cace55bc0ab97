"""The databases of the app, in SQLite or Postgres. Entry point: `database.open_database`."""

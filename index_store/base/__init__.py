"""What every package of index_store stands on: errors, settings, SQLite, and how a service says no."""

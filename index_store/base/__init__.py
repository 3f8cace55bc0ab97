"""What all packages of index_store use: errors, settings, databases, the command line."""

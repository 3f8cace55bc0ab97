"""What all packages of index_store use: errors, settings, databases, errors of services."""

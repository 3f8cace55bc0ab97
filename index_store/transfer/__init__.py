"""A data folder elsewhere: as one file and back (backup/), or on servers and back (move/)."""

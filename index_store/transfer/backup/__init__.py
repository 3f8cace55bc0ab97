"""Backup and restore: a data folder as one file, and back.

    snapshot    the contents of a folder at one moment, while its app runs
    backup      a snapshot as an archive
    restore     an archive, checked against its manifest, as a folder
    manifest    what an archive contains

A restored folder is like one whose process was killed at that moment: the next start finishes or undoes unfinished
changes, as always (library/library.py). The reasons are in docs/decisions/data/backup.md.
"""

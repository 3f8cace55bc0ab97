"""Backup and restore: a data folder as one file, and back.

    snapshot    what a folder holds at one moment, while its app runs
    backup      that as an archive
    restore     an archive, held against its manifest, as a folder
    manifest    what an archive says of itself

A restored folder is one whose process was killed at that moment: what was under way then, the next start finishes or
undoes, as it always does (library/library.py). Why so: docs/decisions/backup.md.
"""

"""Runs of several apps on one database (DATABASE_URL and CHROMA_URL): each app can show, stop and wait for all of them.

    replicas.py     one thread of each app, which does all of what follows, and ends the runs of apps that are gone
    feed.py         what is written here, for the others: several times a second, whoever reads it
    remote_runs.py  runs of other apps, as `Run`s that grow as they are read
    shared_admission.py   whose turn it is, over all apps

What is kept is in runs/history/active_runs.py. Why so: docs/decisions/growing.md.
"""

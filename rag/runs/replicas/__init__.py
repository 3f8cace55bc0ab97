"""Runs of several apps on one database (DATABASE_URL and CHROMA_URL): each app can show, stop and wait for all of them.

    exchange.py     one thread per app, which does all of the following
    feed.py         publishes this app's runs several times a second
    remote_runs.py  runs of other apps, as `Run`s that grow while they are read
    shared_admission.py   the queue over all apps
    dead_apps.py    ends the runs of dead apps, and takes over their jobs

The data is in runs/history/active_runs.py. Reasons: docs/decisions/data/growing.md.
"""

"""The store: that of the process (index_store.py), and what one person can ask of it (user_store.py).

commands          python -m index_store, as far as it works with documents and indexes; search_command, worker_command
index_store       IndexStore, one for each process
user_store        UserStore, one for each person
    store             Store, the methods of both: every one asks first whether the person may
    lifecycle         of an index: renamed, deleted, embedded again
    user_ingestion    a person's jobs
"""

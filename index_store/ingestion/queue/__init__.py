"""Jobs that several processes work on, with DATABASE_URL and CHROMA_URL.

    QueuedIngestion (queued_job.py)     in the app: takes in what was added, and shows what became of it
        -> rows (job_table.py)          in the catalogue: jobs and their items, the truth
        -> delivery (delivery.py)       Procrastinate: which worker is to look at which item
            -> Worker (worker.py)       in the app or a process of its own: reads, embeds and saves, under a lease

Why so: docs/decisions/job-queue.md.
"""

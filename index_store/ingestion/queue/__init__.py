"""Jobs that several processes work on, with DATABASE_URL and CHROMA_URL.

    QueuedIngestion (queued_job.py)     in the app: stores the sources and shows the results
        -> rows (job_table.py)          in the catalogue: the jobs and their items, the only truth
        -> delivery (delivery.py)       Procrastinate: tells which worker to look at which item
            -> Worker (worker.py)       in the app or in its own process: reads, embeds and saves under a lease

The reasons are in docs/decisions/job-queue.md.
"""

"""Jobs that several processes work on, with DATABASE_URL and CHROMA_URL.

    QueuedJobs (queued_jobs.py)         in the app: all jobs; queued_job.py is one of them, with its results
        -> sources (job_admission.py)   stored by the app in which the job began
        -> rows (job_table.py)          in the catalogue: the jobs and their items, the only truth
        -> delivery (delivery.py)       Procrastinate: tells which worker to look at which item
            -> Worker (worker.py)       in the app or in its own process: reads, embeds and saves under a lease

The reasons are in docs/decisions/documents/job-queue.md.
"""

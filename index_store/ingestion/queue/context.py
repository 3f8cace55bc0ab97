"""What the parts of a queue share in one process."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from index_store.ingestion.context import Services
from index_store.ingestion.queue.job_table import Deliver, JobTable


@dataclass(frozen=True)
class QueueContext:
    services: Services
    job_table: JobTable
    deliver: Deliver
    cancel_here: Callable[[str], None]
    """stops at once what this process does for a job, by its id"""
    is_closed: threading.Event = field(default_factory=threading.Event)

"""Adds documents as a job (job.py), in its own threads: no page waits for it, and none can lose it.

    admission                   reading                         embedding                     saving
    each source becomes    ->   a parser's process turns   ->   texts of several documents    ->  each that has all its
    pending versions            each into sections              in one call to the model          vectors is made ready

Every document is kept and noted as pending before the first is read. What waits between reading, embedding and saving
is bounded, so a long job takes no more memory than a short one. A document is, stage by stage, a source (sources.py), a
PendingVersion, a DocumentTask while it is read and embedded (stages/completion.py), an EmbeddedVersion, a result
(results.py).
"""

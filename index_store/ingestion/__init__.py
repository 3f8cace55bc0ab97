"""Adds documents as a job (job.py), in its own threads: no page waits for the job, and closing a page does not stop it.
    admission                   reading                         embedding                     saving
    each source becomes    ->   a parser's process turns   ->   texts of several documents    ->  each that has all its
    pending versions            each into sections              in one call to the model          vectors is made ready

Every document is stored and recorded as pending before the first one is read. The queues between reading, embedding and
saving have a limit, so a long job takes no more memory than a short one. From stage to stage, a document is a source
(sources.py), a PendingVersion, a DocumentTask while it is read and embedded (stages/completion.py), an EmbeddedVersion,
and a result (results.py).
"""
